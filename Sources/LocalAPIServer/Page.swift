import HTTPCoding
import HTTPTypes
import Hummingbird
import LocalAPI

/// What a list is continued by: the last element of a page names where the next begins.
protocol PageElement: Encodable, Sendable {
    /// Opaque to callers; tells it from every other of its list.
    var cursor: String { get }
    /// Whether the list ascends by its cursors: then it goes on behind one whose element is gone.
    static var isOrderedByCursor: Bool { get }
}

extension PageElement {
    static var isOrderedByCursor: Bool { false }
}

/// The part of a list that a request asks for (`limit`, `after`), with where the next part is in the header `Link` (RFC 8288).
struct Page: Sendable {
    /// What a path with a list takes in its query.
    static let query = ["limit", "after"]
    static let largest = 1_000

    /// Nil for all that is left.
    let limit: Int?
    let after: String?

    var isWhole: Bool { limit == nil && after == nil }

    /// - Parameter isLimitElsewhere: what `limit` means there is read elsewhere.
    init(of request: Request, isLimitElsewhere: Bool = false) throws(APIError) {
        after = request.query("after")
        guard !isLimitElsewhere, let text = request.query("limit") else {
            // A part is held as a whole.
            limit = after == nil || isLimitElsewhere ? nil : Self.largest
            return
        }
        guard let number = Int(text), (1...Self.largest).contains(number) else {
            throw APIError(.invalidRequest, "'\(text)' is no limit: give a number from 1 to \(Self.largest).")
        }
        limit = number
    }

    init(limit: Int?, after: String?) {
        (self.limit, self.after) = (limit, after)
    }

    /// Of a list that is there as a whole.
    func answer<Element: PageElement>(_ all: [Element], _ request: Request) throws -> Response {
        var rest = all[...]
        if let after {
            if let place = all.firstIndex(where: { $0.cursor == after }) {
                rest = all[(place + 1)...]
            } else {
                guard Element.isOrderedByCursor else { throw Self.gone(after) }
                rest = all.drop { $0.cursor <= after }[...]
            }
        }
        let page = Array(rest.prefix(limit ?? .max))
        return linked(try Answer.json(page), last: page.count < rest.count ? page.last?.cursor : nil, request)
    }

    /// Of a list that is written while it is read; a part of it is held as a whole.
    func answer<Element: PageElement>(_ batches: Batches<Element>, _ request: Request) async throws -> Response {
        guard !isWhole else { return Answer.elements(batches, for: request) }
        var isReached = after == nil
        var page: [Element] = []
        var hasMore = false
        reading: while let batch = try await batches.next() {
            for element in batch {
                guard isReached else {
                    isReached = element.cursor == after
                    continue
                }
                if page.count == limit {
                    hasMore = true
                    break reading
                }
                page.append(element)
            }
        }
        guard isReached else { throw Self.gone(after ?? "") }
        return part(page, hasMore: hasMore, request)
    }

    /// Of a list of which this part was read.
    func part<Element: PageElement>(_ page: [Element], hasMore: Bool, _ request: Request) -> Response {
        let pieces = OnePiece(page)
        let response = Answer.elements(Batches { pieces.take() }, for: request)
        return linked(response, last: hasMore ? page.last?.cursor : nil, request)
    }

    private func linked(_ response: Response, last: String?, _ request: Request) -> Response {
        guard let last, let name = HTTPField.Name("Link") else { return response }
        let others = (QueryParameters(request.uri.query)?.all ?? []).filter { $0.name != "after" }
        let query = (others.map { ($0.name, $0.value) } + [("after", last)])
            .map { "\(PercentCoding.encode($0.0))=\(PercentCoding.encode($0.1))" }.joined(separator: "&")
        var response = response
        response.headers[name] = "<\(request.uri.path)?\(query)>; rel=\"next\""
        return response
    }

    private static func gone(_ cursor: String) -> APIError {
        APIError(.cursorGone, "What 'after' names ('\(cursor)') is not in the list any more: begin it anew.")
    }
}

extension JobListEntry: PageElement {
    var cursor: String { id }
    static var isOrderedByCursor: Bool { true }
}

extension ItemView: PageElement {
    var cursor: String { id }
    static var isOrderedByCursor: Bool { true }
}

extension RosterMember: PageElement {
    var cursor: String { replicaID }
    static var isOrderedByCursor: Bool { true }
}

extension PeerStatus: PageElement {
    var cursor: String { deviceID ?? address }
}

extension FleetDevice: PageElement {
    var cursor: String { deviceID }
}

extension QueueEntry: PageElement {
    var cursor: String { token }
}

extension QueueAttempt: PageElement {
    var cursor: String { "\(token)-\(attempt)" }
}

extension LateChange: PageElement {
    var cursor: String { id }
}

extension ChangeReport: PageElement {
    /// The name of its first transform.
    var cursor: String { "\(by)-\(sequence)" }
}
