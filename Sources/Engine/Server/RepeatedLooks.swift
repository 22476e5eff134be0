import CRDT

/// When the server is asked again what it holds of this laptop's own journals, in jobs that it is not on.
///
/// Nobody says when something becomes of them there. Who was on many jobs asks about a few at a time, and ever less often where
/// nothing has become of them.
struct RepeatedLooks {
    private struct Look {
        var due: UInt64
        var interval: UInt64
    }

    /// Of one round with the server.
    static let limit = 5
    private static let firstInterval: UInt64 = 600_000
    private static let longestInterval: UInt64 = 4 * 3_600_000

    private var looks: [JobID: Look] = [:]

    /// The jobs to ask about now, the longest overdue first. Each counts as asked about, whatever comes of it.
    mutating func begin(now: UInt64) -> [JobID] {
        let due = looks.filter { $0.value.due <= now }
            .sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }
            .prefix(Self.limit).map(\.key)
        for job in due {
            guard var look = looks[job] else { continue }
            look.interval = min(look.interval * 2, Self.longestInterval)
            look.due = now + look.interval
            looks[job] = look
        }
        return due
    }

    /// A job was settled with the server as far as it goes.
    ///
    /// - Parameters:
    ///   - isOwnOnly: this laptop is not on it, as the server says.
    ///   - isChanged: something was moved, so that more may follow.
    mutating func note(_ job: JobID, isOwnOnly: Bool, isChanged: Bool, now: UInt64) {
        guard isOwnOnly else {
            looks[job] = nil
            return
        }
        guard isChanged || looks[job] == nil else { return }
        looks[job] = Look(due: now + Self.firstInterval, interval: Self.firstInterval)
    }
}
