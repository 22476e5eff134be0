import HTTPTypes
import Hummingbird
import LocalAPI

extension Route {
    static let backups = [
        // The whole inventory of all jobs: not for who may only look.
        Route(.get, "/v1/backup", isLong: true, isSecret: true) { _, _, service in
            let file = try await service.backup()
            return Answer.chunks(file.pieces, mediaType: BackupStream.mediaType, size: file.size)
        },
        Route(.post, "/v1/restore", query: ["preview"], isLong: true) { request, _, service in
            let isPreview = try request.flag("preview")
            return try Answer.json(try await service.restore(Upload(request.body), isPreview: isPreview))
        },
    ]
}

/// A file that is sent piece by piece. Its length is told before: one that breaks off is not taken for a whole one.
package struct BackupStream: Sendable {
    /// SQLite's (IANA, application/vnd.sqlite3).
    package static let mediaType = "application/vnd.sqlite3"
    /// In bytes.
    package let size: Int
    package let pieces: Chunks

    /// Takes what comes to `size` bytes together.
    package init(size: Int, pieces: Chunks) {
        self.size = size
        self.pieces = pieces
    }
}

/// A file that somebody sends, piece by piece.
package struct Upload: Sendable {
    package let pieces: any AsyncSequence<[UInt8], any Error> & Sendable

    /// Takes what is read once.
    package init(pieces: any AsyncSequence<[UInt8], any Error> & Sendable) { self.pieces = pieces }

    init(_ body: RequestBody) { self.init(pieces: body.map { Array($0.readableBytesView) }) }
}
