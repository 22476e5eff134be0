/// An error on the wire: an RFC 9457 problem document with `code` and `candidates` as extensions.
package struct Problem: Codable, Hashable, Sendable {
    /// The media type of RFC 9457 section 6.1.
    package static let mediaType = "application/problem+json"

    package var type: String
    package var title: String
    package var status: Int
    package var detail: String
    package var code: APIError.Code
    package var candidates: [String]

    package init(_ error: APIError) {
        type = "urn:muster:problem:\(error.code.rawValue)"
        title = error.code.title
        status = error.code.status
        detail = error.message
        code = error.code
        candidates = error.candidates
    }

    package var error: APIError {
        APIError(code, detail, candidates: candidates)
    }
}
