import HTTPCoding
import HTTPTypes
import Hummingbird
import LocalAPI

/// What a list is continued by: the last element of a page names where the next begins.
protocol PageElement: Encodable, Sendable {
    /// Opaque to callers; tells it from every other of its list.
    var cursor: String { get }
    /// Stands before it for callers: one list's cursor is none of another's, and would be a place in many.
    static var list: String { get }
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
    /// As the caller has it: the list's name, and the cursor of an element.
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

    /// The cursor behind which the part begins; nil for the beginning.
    func cursor<Element: PageElement>(in _: Element.Type) throws(APIError) -> String? {
        guard let after else { return nil }
        let name = "\(Element.list)."
        guard after.hasPrefix(name) else { throw Self.gone(after) }
        return String(after.dropFirst(name.count))
    }

    /// Of a list that is there as a whole.
    func answer<Element: PageElement>(_ all: [Element], _ request: Request) throws -> Response {
        let after = try cursor(in: Element.self)
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
        return linked(try Answer.json(page), last: page.count < rest.count ? page.last : nil, request)
    }

    /// Of a list that is written while it is read; a part of it is held as a whole.
    func answer<Element: PageElement>(_ batches: Batches<Element>, _ request: Request) async throws -> Response {
        guard !isWhole else { return Answer.elements(batches, for: request) }
        let after = try cursor(in: Element.self)
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
        return linked(response, last: hasMore ? page.last : nil, request)
    }

    private func linked<Element: PageElement>(_ response: Response, last: Element?, _ request: Request) -> Response {
        guard let last, let name = HTTPField.Name("Link") else { return response }
        let others = (QueryParameters(request.uri.query)?.all ?? []).filter { $0.name != "after" }
        let query = (others.map { ($0.name, $0.value) } + [("after", "\(Element.list).\(last.cursor)")])
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
    static var list: String { "jobs" }
    var cursor: String { id }
    static var isOrderedByCursor: Bool { true }
}

extension ItemView: PageElement {
    static var list: String { "items" }
    var cursor: String { id }
    static var isOrderedByCursor: Bool { true }
}

extension RosterMember: PageElement {
    static var list: String { "roster" }
    var cursor: String { replicaID }
    static var isOrderedByCursor: Bool { true }
}

extension PeerStatus: PageElement {
    static var list: String { "peers" }
    var cursor: String { deviceID ?? address }
}

extension FleetDevice: PageElement {
    static var list: String { "devices" }
    var cursor: String { deviceID }
}

extension QueueEntry: PageElement {
    static var list: String { "queue" }
    var cursor: String { token }
}

extension QueueAttempt: PageElement {
    static var list: String { "attempts" }
    var cursor: String { "\(token)-\(attempt)" }
}

extension CategoryView: PageElement {
    static var list: String { "catalogue" }
    var cursor: String { id }
}

extension OwnAddress: PageElement {
    static var list: String { "addresses" }
    var cursor: String { "\(address)-\(interface)" }
}

extension Metric: PageElement {
    static var list: String { "metrics" }
    var cursor: String { name }
}

extension LateChange: PageElement {
    static var list: String { "late" }
    var cursor: String { id }
}

extension ChangeReport: PageElement {
    static var list: String { "log" }
    /// The name of its first transform.
    var cursor: String { "\(by)-\(sequence)" }
}
