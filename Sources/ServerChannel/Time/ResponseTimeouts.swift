import AsyncHTTPClient
import NIOCore
import Synchronization

/// How long a server is waited for. A line that dies in the midst of an answer says nothing of it, and whoever waited
/// for the rest would wait for ever.
struct ResponseTimeouts: Sendable {
    /// Whoever is silent for so long has gone.
    var silence = Duration.seconds(30)
    /// An answer that takes longer, byte by byte, is none.
    var whole = Duration.seconds(300)
    /// Of a request, in a second: the slowest line on which it still arrives.
    private static let slowestBytes = 4_096

    struct BrokenOff: Error, CustomStringConvertible {
        let description = "the answer broke off"
    }

    /// Until an answer begins, its request included.
    func untilAnswer(sending bytes: Int) -> TimeAmount {
        TimeAmount(silence) + .seconds(Int64(bytes / Self.slowestBytes))
    }

    /// - Throws: `NIOTooManyBytesError`, `BrokenOff`.
    func collect(_ body: HTTPClientResponse.Body, upTo limit: Int) async throws -> ByteBuffer {
        let hearing = Hearing()
        return try await withThrowingTaskGroup(of: ByteBuffer?.self) { group in
            group.addTask {
                var all = ByteBuffer()
                for try await var piece in body {
                    hearing.hear()
                    guard all.readableBytes + piece.readableBytes <= limit else {
                        throw NIOTooManyBytesError(maxBytes: limit)
                    }
                    all.writeBuffer(&piece)
                }
                return all
            }
            group.addTask {
                let end = hearing.last + whole
                while hearing.last + silence > .now, end > .now {
                    try await Task.sleep(until: min(hearing.last + silence, end))
                }
                return nil
            }
            defer { group.cancelAll() }
            guard let all = try await group.next() ?? nil else { throw BrokenOff() }
            return all
        }
    }

    private final class Hearing: Sendable {
        private let heard = Mutex(ContinuousClock.now)

        var last: ContinuousClock.Instant { heard.withLock { $0 } }

        func hear() {
            heard.withLock { $0 = .now }
        }
    }
}
