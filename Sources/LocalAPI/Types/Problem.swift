/// An error on the wire: an RFC 9457 problem document with `code` and `candidates` as extensions.
package struct Problem: Codable, Hashable, Sendable {
    /// The media type of RFC 9457 section 6.1.
    package static let mediaType = "application/problem+json"

    /// `urn:muster:problem:CODE`: a name, not a page.
    package var type: String
    /// The same few words for every problem of one code.
    package var title: String
    /// The answer's HTTP status once more.
    package var status: Int
    /// For people: what is wrong and what to do.
    package var detail: String
    /// What programs go by; one that they do not know counts by its status.
    package var code: APIError.Code
    /// As in `APIError`: empty where there is nothing to choose from.
    package var candidates: [String]

    /// Leaves `APIError.parts` out.
    package init(_ error: APIError) {
        type = "urn:muster:problem:\(error.code.rawValue)"
        title = error.code.title
        status = error.code.status
        detail = error.message
        code = error.code
        candidates = error.candidates
    }

    /// The same failure on the client's side; its `parts` are nil.
    package var error: APIError {
        APIError(code, detail, candidates: candidates)
    }
}
