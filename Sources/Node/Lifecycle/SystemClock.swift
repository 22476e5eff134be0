import CDispatch

#if canImport(Glibc)
    import Glibc
#endif

/// The two clocks of the machine.
enum SystemClock {
    /// Milliseconds that never go back and go on during suspend.
    static var elapsedMilliseconds: UInt64 {
        milliseconds(of: CLOCK_BOOTTIME)
    }

    /// Milliseconds since 1970 by the machine's own clock.
    static var wallMilliseconds: UInt64 {
        milliseconds(of: CLOCK_REALTIME)
    }

    private static func milliseconds(of clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
    }
}
