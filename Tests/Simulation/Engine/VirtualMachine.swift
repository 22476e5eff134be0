import CRDT
import Engine

/// A laptop's machine in virtual time.
final class VirtualMachine: @unchecked Sendable {
    let scheduler: Scheduler
    /// Everything that the laptop does goes on here.
    let processor: Processor
    var clock: VirtualClock
    /// How often work was shown that was stamped without a known time.
    var shownCount = 0
    private var source: SeededGenerator
    private let hasSlowDisk: Bool

    init(index: Int, seed: UInt64, profile: VirtualClock.Profile, scheduler: Scheduler) {
        self.scheduler = scheduler
        processor = Processor(scheduler: scheduler)
        clock = VirtualClock(profile, machine: index, now: scheduler.now)
        source = SeededGenerator(seed: seed ^ UInt64(index + 1) << 40)
        hasSlowDisk = source.oneIn(4)
    }

    var elapsedMicroseconds: Int64 { clock.elapsed(at: scheduler.now) }
    var wallMicroseconds: Int64 { clock.wall(at: scheduler.now) }
    var bootID: String { clock.bootID }

    func sleep(milliseconds: UInt64) async throws {
        // Nobody in a simulated world lives to see the rest.
        let wait = Int64(min(milliseconds, 1 << 40)) * 1_000
        try await scheduler.sleep(until: clock.trueTime(atElapsed: elapsedMicroseconds + wait, now: scheduler.now))
    }

    func draw() -> UInt64 { source.next() }

    /// For one start of the daemon.
    func begin() -> VirtualRun { VirtualRun(on: self) }

    /// A disk: mostly quick, now and then not; some are never quick.
    func waitForDisk() async {
        if scheduler.isStandingStill { return }
        let longest: Int64 = hasSlowDisk || source.oneIn(6) ? 500_000 : 3_000
        await scheduler.pass(microseconds: Int64.random(in: 0...longest, using: &source))
    }
}

/// The machine as one start of the daemon sees it: when the power goes, its time stands still.
final class VirtualRun: Machine, @unchecked Sendable {
    private let machine: VirtualMachine
    private var end: (elapsed: Int64, wall: Int64)?
    let bootID: String

    fileprivate init(on machine: VirtualMachine) {
        self.machine = machine
        bootID = machine.bootID
    }

    var elapsedMicroseconds: Int64 { end?.elapsed ?? machine.elapsedMicroseconds }
    var wallMicroseconds: Int64 { end?.wall ?? machine.wallMicroseconds }
    var executor: (any TaskExecutor)? { machine.processor }

    func sleep(milliseconds: UInt64) async throws {
        try await machine.sleep(milliseconds: milliseconds)
        if end != nil { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    }

    func random() -> UInt64 { machine.draw() }

    func cutPower() { end = (elapsedMicroseconds, wallMicroseconds) }
}
