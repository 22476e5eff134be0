/// The clocks of one laptop's machine. All in microseconds; true time is the world's.
struct VirtualClock {
    /// True time at the beginning of every run, since 1970.
    static let epoch: Int64 = 1_700_000_000_000_000

    /// When the program was made: some of the wrong clocks are before that.
    static let built = epoch - 86_400_000_000

    /// What is wrong with a machine's clocks.
    struct Profile {
        /// How much faster it runs.
        var partsPerMillion: Int64 = 0
        var wallErrorMilliseconds: Int64 = 0
        var reachesServer = false
    }

    private(set) var boot: Int = 1
    private let machine: Int
    private let partsPerMillion: Int64
    private var bootedAt: Int64
    /// Wall clock minus elapsed time.
    private var wallOffset: Int64

    init(_ profile: Profile, machine: Int, now: Int64) {
        self.machine = machine
        partsPerMillion = profile.partsPerMillion
        bootedAt = now - 60_000_000
        wallOffset = 0
        setWall(to: Self.epoch + now + profile.wallErrorMilliseconds * 1_000, now: now)
    }

    var bootID: String { "boot \(boot) of \(machine)" }

    /// CLOCK_BOOTTIME: goes on during sleep, at this machine's own speed.
    func elapsed(at now: Int64) -> Int64 {
        let time = now - bootedAt
        return time + time / 1_000_000 * partsPerMillion + time % 1_000_000 * partsPerMillion / 1_000_000
    }

    func wall(at now: Int64) -> Int64 { elapsed(at: now) + wallOffset }

    /// The true time at which the machine's elapsed time reaches `elapsed`, or just after.
    func trueTime(atElapsed elapsed: Int64, now: Int64) -> Int64 {
        let wait = max(0, elapsed - self.elapsed(at: now))
        return now + wait + wait / 5_000 + 1
    }

    mutating func jumpWall(by microseconds: Int64) { wallOffset += microseconds }

    private mutating func setWall(to wall: Int64, now: Int64) { wallOffset = wall - elapsed(at: now) }

    /// Elapsed time begins anew; the battery's clock has kept the wall clock.
    mutating func reboot(now: Int64) {
        let wall = wall(at: now)
        boot += 1
        // The daemon starts early or late: a time measured in one boot may lie before or after the start in the next.
        bootedAt = now - (boot.isMultiple(of: 2) ? 120_000_000 : 5_000_000)
        setWall(to: wall, now: now)
    }
}
