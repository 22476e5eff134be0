import LocalAPI

extension AmendmentReport {
    /// Who has signed, and how the inventory stands to that; nil where nobody has.
    var signed: String? {
        guard let signature else { return nil }
        let signed = "by \(signature.name)" + (signature.isPending ? " (waits for the server)" : "")
        let standing: String? =
            switch standing {
            case .unsigned, .asSigned: nil
            case .amended: ", \(counted(items.count, "amendment")) since"
            case .notHeldYet: ", but not all that was signed has come here yet"
            case .anotherInventory: " for an inventory that this laptop cannot show"
            case .noVector: " for another inventory than this one"
            case .removedJob: "; what was signed went with the job"
            }
        return signed + (standing ?? "")
    }

    /// A line for each thing that is not as it was signed for.
    var table: Table {
        let short = ShortIDs(items.map(\.item))
        var table = Table([.whole("ITEM"), .text("NAME"), .text("WHAT"), .text("SIGNED"), .text("NOW"), .text("BY")])
        for item in items {
            let named: [Cell] = [.id(item.item, short), Cell(item.itemName ?? "")]
            var lines: [[String]] = []
            switch item.kind {
            case .added: lines = [["added", "", "", item.authorName]]
            case .removed: lines = [["removed", "", "", item.authorName]]
            case .addedAndRemoved: lines = [["added and removed", "", "", item.authorName]]
            case .uncounted: lines = [["waits: muster job late", "", "", item.authorName]]
            case .changed:
                lines = item.fields.map { [$0.field, $0.signed ?? "", $0.present.value, $0.present.authorName] }
                lines += item.notes.map { ["note", "", $0, item.authorName] }
            }
            for (index, line) in lines.enumerated() {
                let before = index == 0 ? named : named.map(\.repeated)
                table.add(before + line.map { Cell($0) })
            }
        }
        return table
    }
}

extension AmendedItem {
    fileprivate var authorName: String { authorDisplayName(by, byName, person) }
}

/// An answer for programs, with one more key: `amendments`, an `AmendmentReport`.
struct WithAmendments<Answer: Encodable>: Encodable {
    let answer: Answer
    let amendments: AmendmentReport

    private enum CodingKeys: CodingKey {
        case amendments
    }

    func encode(to encoder: any Encoder) throws {
        try answer.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(amendments, forKey: .amendments)
    }
}
