import LocalAPI

/// A file on its way to the daemon, with a bar.
actor UploadedFile {
    private let file: InputFile
    private let progress = ProgressBar()
    /// What the file itself has to say, which comes before what that does to the connection.
    private(set) var failure: APIError?

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
            failure = error as? APIError
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
            if let failure = await file.failure { throw failure }
            throw error
        }
    }
}
