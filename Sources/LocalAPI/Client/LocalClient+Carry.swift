import NIOCore
import NIOHTTP1

/// Journals in files.
extension LocalClient {
    /// `GET /v1/carry/card`: 200; 422 without a fleet.
    package func carryCard() async throws -> CarryCard { try await call(.GET, ["carry", "card"]) }

    /// `POST /v1/carry/recipients`: 200; 422 for a name that nobody has, 403 for a laptop that was revoked.
    package func carryRecipients(_ request: CarryRecipientsRequest) async throws -> [CarryRecipient] {
        try await call(.POST, ["carry", "recipients"], body: request)
    }

    /// `POST /v1/carry/out`: the file, cut anywhere.
    package func carryOut(_ request: CarryOutRequest, _ each: ([UInt8]) async throws -> Void) async throws {
        try await pieces(["carry", "out"], accept: "*/*", .POST, body: request) { piece, _ in
            try await each(Array(piece.readableBytesView))
        }
    }

    /// `POST /v1/carry/in`: 200 also where the file is damaged, with what could be taken.
    ///
    /// - Parameter next: the next piece of the file; nil at its end. One is asked for when the daemon has taken the last.
    package func carryIn(_ next: @escaping @Sendable () async throws -> [UInt8]?) async throws -> CarryReport {
        // A second time changes nothing.
        try await upload(["carry", "in"], mediaType: "application/octet-stream", isWrite: false, next)
    }
}
