#if canImport(Glibc)
    import Glibc
#endif

/// Tells systemd how a program is (sd_notify(3)): a datagram to the socket that `NOTIFY_SOCKET` names.
///
/// Without systemd, or when it no longer listens, telling it does nothing.
package struct ServiceManager: Sendable {
    private let socket: DatagramSocket?
    /// How often systemd wants a sign of life, in milliseconds; nil when it does not.
    let watchdogMilliseconds: UInt64?

    /// - Parameter environment: the process's.
    package init(environment: [String: String]) {
        socket = environment["NOTIFY_SOCKET"].flatMap(DatagramSocket.init(path:))
        let isForThisProcess = environment["WATCHDOG_PID"].map { $0 == String(ThisProcess.id) } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap { UInt64($0) }
        watchdogMilliseconds = isForThisProcess ? microseconds.map { $0 / 1_000 } : nil
    }

    /// Those who wait for the start may go on. `status` is one line for people.
    package func ready(_ status: String) { tell("READY=1\nSTATUS=\(status)") }
    /// What it is doing, in one line for people.
    package func status(_ status: String) { tell("STATUS=\(status)") }
    /// As `status`, at a start that takes long: the time-out does not count as long as such a line comes every ten minutes: so
    /// long a slow disk may need for a flush.
    package func progress(_ status: String) { tell("STATUS=\(status)\nEXTEND_TIMEOUT_USEC=600000000") }
    /// It takes up other settings; until it is ready again.
    package func reloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        tell("RELOADING=1\nMONOTONIC_USEC=\(time.tv_sec * 1_000_000 + time.tv_nsec / 1_000)")
    }
    /// Whether there is one that listens.
    package var isThere: Bool { socket != nil }
    /// The stop has begun.
    package func stopping() { tell("STOPPING=1") }
    /// It makes progress.
    func alive() { tell("WATCHDOG=1") }

    /// Gives signs of life until the task is cancelled, three in the time in which systemd wants one; none when it wants none.
    ///
    /// - Parameter check: returns when what has to go on does so, with one line for people.
    package func reportLife(_ check: @Sendable () async -> String) async {
        while !Task.isCancelled {
            guard let watchdogMilliseconds else {
                try? await Task.sleep(for: .seconds(86_400))
                continue
            }
            let line = await check()
            alive()
            status(line)
            try? await Task.sleep(for: .milliseconds(Int(watchdogMilliseconds / 3)))
        }
    }

    private func tell(_ text: String) { _ = socket?.send(Array(text.utf8), waits: true) }
}
