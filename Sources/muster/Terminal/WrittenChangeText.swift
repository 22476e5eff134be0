import Audit
import CRDT
import HTTPCoding

/// A change of a history for people: when by its author's clock, whose, of what, and what.
struct WrittenChangeText {
    let lines: [String]

    /// - Parameter author: what its laptop calls itself, and the id of its key.
    init(_ written: HistoryAudit.WrittenChange, by author: String) {
        let change = written.change
        let time = Formats.exactTime(Timestamp(milliseconds: Int64(clamping: change.stamp.milliseconds)))
        let author = Text.plain(written.person.map { "\($0) on \(author)" } ?? author)
        let item = change.item == .job ? "the job" : change.item.description
        let first = change.origin.map { ", first by \(ShortIDs.random($0.description))" } ?? ""
        lines = change.operations.map { "\(time)  \(author)\(first)  \(item)  \(Self.text($0))" }
    }

    private static func text(_ operation: CRDT.Operation) -> String {
        switch operation {
        case .set(let field, let value, _): "\(Text.plain(field.text)) = \(Text.plain(value))"
        case .append(let list, let entry): "\(Text.plain(list.text)) + \(Text.plain(entry))"
        case .remove: "removed"
        case .removeJob: "removed with all that is in it"
        case .decide(let changes): "decided about \(counted(changes.count, "late change"))"
        case .request(let request): "asks the server: \(Text.plain(request.kind))"
        case .withdraw: "takes a request back"
        case .acknowledge(let positions): "the server holds \(counted(positions.count, "journal"))"
        case .outcome: "the server has decided a request"
        case .publish(let value): "the server says: \(Text.plain(value.value))"
        }
    }
}
