import CDispatch
import Timekeeping

#if canImport(Glibc)
    import Glibc
#endif

/// The clocks of the machine.
enum SystemClock {
    /// Microseconds that never go back and go on during suspend.
    static var elapsedMicroseconds: Int64 { microseconds(of: CLOCK_BOOTTIME) }

    /// The same clock in milliseconds.
    static var elapsedMilliseconds: UInt64 { UInt64(clamping: elapsedMicroseconds / 1_000) }

    /// Microseconds since 1970 by the machine's own clock.
    static var wallMicroseconds: Int64 { microseconds(of: CLOCK_REALTIME) }

    /// Milliseconds since 1970 by the machine's own clock.
    static var wallMilliseconds: UInt64 { UInt64(clamping: wallMicroseconds / 1_000) }

    /// The clock that goes on during suspend and the one that does not, read close to each other.
    static var suspendReading: SuspendDetector.Reading {
        var (closest, shortest) = (SuspendDetector.Reading(elapsed: 0, awake: 0), Int64.max)
        // The thread may be put aside between the two, which must not look like a sleep.
        for _ in 0..<5 where shortest > 1_000 {
            let before = microseconds(of: CLOCK_MONOTONIC)
            let elapsed = elapsedMicroseconds
            let after = microseconds(of: CLOCK_MONOTONIC)
            guard after - before < shortest else { continue }
            (closest, shortest) = (SuspendDetector.Reading(elapsed: elapsed, awake: after), after - before)
        }
        return closest
    }

    private static func microseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        // A clock that is set to absurd times must not end the daemon: some 34,000 years either way are enough for sums.
        let seconds = min(max(Int64(time.tv_sec), -1 << 40), 1 << 40)
        return seconds * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    /// The kernel's random name for this boot (random(4)); empty where there is none.
    static var bootID: String {
        guard let file = fopen("/proc/sys/kernel/random/boot_id", "r") else { return "" }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 64)
        guard fgets(&buffer, 64, file) != nil else { return "" }
        let bytes = buffer.prefix { $0 != 0 && $0 != 0x0A }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
