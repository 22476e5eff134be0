import LocalAPI
import Synchronization

/// A file on its way to the daemon, with a bar.
actor UploadedFile {
    private let file: InputFile
    private let progress = ProgressBar()
    /// What the file itself has to say, which comes before what that does to the connection.
    private let failure = Mutex<APIError?>(nil)

    init(path: String) throws { file = try InputFile(path: path) }

    /// The next piece; nil at the end.
    func next() throws -> [UInt8]? {
        do {
            let piece = try file.next()
            if piece == nil {
                progress.clear()
            } else {
                progress.show(file.bytesRead, of: file.size, Formats.bytes(file.bytesRead))
            }
            return piece
        } catch {
            progress.clear()
            failure.withLock { $0 = error as? APIError }
            throw error
        }
    }

    /// Sends it by a request that asks for its pieces.
    static func send<Value: Sendable>(
        _ path: String, by request: (@escaping @Sendable () async throws -> [UInt8]?) async throws -> Value
    ) async throws -> Value {
        let file = try UploadedFile(path: path)
        do {
            return try await request { try await file.next() }
        } catch {
            file.progress.clear()
            // The file may be a pipe, on which somebody waits still.
            if let failure = file.failure.withLock({ $0 }) { throw failure }
            throw error
        }
    }
}
