import LocalAPI
import Synchronization

/// A file on its way to the daemon, with a bar.
final class UploadedFile: Sendable {
    private let reader: Reader
    private let progress = ProgressBar()
    /// What the file itself has to say, which comes before what that does to the connection.
    private let failure = Mutex<APIError?>(nil)

    /// - Parameter isSentAgain: of a pipe all is read before, so that it can be.
    init(path: String, isSentAgain: Bool = false) throws {
        reader = try Reader(path: path, isSentAgain: isSentAgain)
    }

    /// Sends all of it by a request that asks for its pieces; the same bytes each time, whatever stands under its name by then.
    func send<Value: Sendable>(
        by request: (@escaping @Sendable () async throws -> [UInt8]?) async throws -> Value
    ) async throws -> Value {
        await reader.rewind()
        defer { progress.clear() }
        do {
            return try await request { try await self.next() }
        } catch {
            // Without the reader, who may wait for somebody at the other end of a pipe.
            if let failure = failure.withLock({ $0 }) { throw failure }
            throw error
        }
    }

    private func next() async throws -> [UInt8]? {
        do {
            let (piece, read, size) = try await reader.next()
            progress.show(read, of: size, Formats.bytes(read))
            return piece
        } catch {
            failure.withLock { $0 = error as? APIError }
            throw error
        }
    }
}

/// Only one reads at a time.
private actor Reader {
    private let file: InputFile
    private var hasBegun = false

    init(path: String, isSentAgain: Bool) throws {
        file = try InputFile(path: path)
        if isSentAgain { try file.keep() }
    }

    func rewind() {
        if hasBegun { file.rewind() }
        hasBegun = true
    }

    /// - Returns: nil at the end; how much was read; how much there is.
    func next() throws -> ([UInt8]?, Int, Int?) {
        let piece = try file.next()
        return (piece, file.bytesRead, file.size)
    }
}
