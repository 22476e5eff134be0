/// The machine that the engine runs on: its clocks, waiting, chance, and where its tasks run.
///
/// The daemon gives it the real one. A simulation gives it one with virtual time, whose executor draws from a seed which of
/// the ready tasks goes on next; so a run can be repeated, races included. It is complete: the engine begins no task,
/// waits for no time and draws no number but through it.
package protocol Machine: Sendable {
    /// Microseconds of a clock that never goes back and goes on during suspend (CLOCK_BOOTTIME).
    var elapsedMicroseconds: Int64 { get }

    /// Microseconds since 1970 by the machine's own clock, right or wrong.
    var wallMicroseconds: Int64 { get }

    /// Tells one boot of the machine from another.
    var bootID: String { get }

    /// Where tasks run; nil for the process's pool.
    var executor: (any TaskExecutor)? { get }

    /// Waits.
    ///
    /// - Throws: `CancellationError` when the task is cancelled meanwhile.
    func sleep(milliseconds: UInt64) async throws

    /// A random number.
    func random() -> UInt64
}

extension Machine {
    /// The elapsed clock in milliseconds.
    package var elapsedMilliseconds: UInt64 { UInt64(clamping: elapsedMicroseconds / 1_000) }

    /// The wall clock in milliseconds.
    package var wallMilliseconds: UInt64 { UInt64(clamping: wallMicroseconds / 1_000) }

    /// Chance, where a function wants a generator.
    package var generator: MachineGenerator { MachineGenerator(machine: self) }

    /// Begins a task that nobody waits for.
    @discardableResult
    package func begin(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: executor) { await work() }
    }

    /// Does something later, unless the task is cancelled before.
    package func after(milliseconds: UInt64, _ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        begin {
            guard (try? await sleep(milliseconds: milliseconds)) != nil else { return }
            await work()
        }
    }

    /// The same at a time of the elapsed clock in milliseconds.
    package func at(_ deadline: UInt64, _ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        let now = elapsedMilliseconds
        return after(milliseconds: deadline - min(deadline, now), work)
    }
}

/// Draws from a machine.
package struct MachineGenerator: RandomNumberGenerator, Sendable {
    private let machine: any Machine

    init(machine: any Machine) {
        self.machine = machine
    }

    package mutating func next() -> UInt64 { machine.random() }
}
