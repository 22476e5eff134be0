#if canImport(Glibc)
    import Glibc
#endif
import Storage

/// The server's time, which is everybody's: the machine's own clock, kept right by NTP.
struct WallClock: Sendable {
    /// Since 1970.
    var microseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    var received: ReceiveTime {
        ReceiveTime(milliseconds: UInt64(clamping: microseconds / 1_000), isSynchronised: true)
    }
}
