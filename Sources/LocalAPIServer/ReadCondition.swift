import HTTPTypes
import Hummingbird
import LocalAPI

/// On what terms somebody reads (RFC 9110 sections 13.1.1, 13.1.2 and 13.2.2): looked at beside the tag of what would be answered.
enum ReadCondition {
    /// - Throws: `preconditionFailed` where `If-Match` names something else.
    static func apply(to response: Response, of request: Request) throws(APIError) -> Response {
        let tag = response.headers[.eTag]
        if let text = request.headers[.ifMatch], !(try EntityTagCondition(parsing: text)).fits(tag) {
            throw APIError(
                .preconditionFailed, "This is not what If-Match names: leave the header out to read it as it is.")
        }
        guard let text = request.headers[.ifNoneMatch] else { return response }
        guard try EntityTagCondition(parsing: text, isWeak: true).fits(tag) else { return response }
        var unchanged = Response(status: .notModified)
        unchanged.headers[.eTag] = tag
        return unchanged
    }
}

extension EntityTagCondition {
    /// - Parameter tag: in its quotes; nil of what has none, which is there all the same.
    fileprivate func fits(_ tag: String?) -> Bool {
        switch self {
        case .any: true
        case .strong(let tags): tags.contains { "\"\($0)\"" == tag }
        }
    }
}
