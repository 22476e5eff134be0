import CRDT
import Engine

/// A laptop's machine in virtual time.
final class VirtualMachine: Machine, @unchecked Sendable {
    let scheduler: Scheduler
    var clock: VirtualClock
    /// How often work was shown that was stamped without a known time.
    var shownCount = 0
    private var source: SeededGenerator

    init(index: Int, seed: UInt64, profile: Plan.ClockProfile, scheduler: Scheduler) {
        self.scheduler = scheduler
        clock = VirtualClock(profile, machine: index, now: scheduler.now)
        source = SeededGenerator(seed: seed ^ UInt64(index + 1) << 40)
    }

    var elapsedMicroseconds: Int64 { clock.elapsed(at: scheduler.now) }
    var wallMicroseconds: Int64 { clock.wall(at: scheduler.now) }
    var bootID: String { clock.bootID }
    var executor: (any TaskExecutor)? { scheduler }

    func sleep(milliseconds: UInt64) async throws {
        // Nobody in a simulated world lives to see the rest.
        let wait = Int64(min(milliseconds, 1 << 40)) * 1_000
        try await scheduler.sleep(until: clock.trueTime(atElapsed: elapsedMicroseconds + wait, now: scheduler.now))
    }

    func random() -> UInt64 { source.next() }

    /// A disk: mostly quick, now and then not.
    func waitForDisk() async {
        let longest: Int64 = source.oneIn(6) ? 500_000 : 3_000
        await scheduler.pass(microseconds: Int64.random(in: 0...longest, using: &source))
    }
}
