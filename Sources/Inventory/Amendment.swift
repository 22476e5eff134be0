package import CRDT

/// What has become of one item since a customer signed for it.
package struct Amendment: Hashable, Sendable {
    /// How the item stands now against how it stood then.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// It is there, and was not; also what was brought back, which is a new item (rule R2).
        case added
        /// It was there, and is removed.
        case removed
        /// It is there, as it was, with other fields or more notes.
        case changed
        /// It came after the signature and is removed again: only its id shows in the export.
        case addedAndRemoved
        /// Some of what was signed for does not count any more: a revoked laptop had written it.
        case uncounted
    }

    /// A field whose value shows otherwise.
    package struct Field: Hashable, Sendable {
        /// Ascending within an amendment.
        package let name: FieldName
        /// What was signed for; nil where the field was not there.
        package let signed: String?
        /// What shows now, and who wrote it.
        package let present: Register.Head
    }

    /// Which item.
    package let item: ItemID
    /// How it stands now against how it stood then.
    package let kind: Kind
    /// Of a changed item what shows otherwise, of an added one all; none of a removed one.
    package let fields: [Field]
    /// Notes that were not there, in timeline order; none of a removed item.
    package let notes: [ItemState.Remark]
    /// The latest write among those that made it so; of a removed item the removal.
    package let write: WriteStamp
    /// As it stands now; what a removed item was is kept there.
    package let present: ItemState

    /// An item of which something does not count any more.
    ///
    /// - Parameters:
    ///   - signed: as it was signed for.
    ///   - present: nil when nothing of it counts.
    package init(_ item: ItemID, uncounted signed: ItemState, present: ItemState?) {
        self.item = item
        self.present = present ?? signed
        kind = .uncounted
        (fields, notes) = ([], [])
        write = signed.removed ?? signed.lastWrite ?? WriteStamp(stamp: .zero, author: .channel)
    }

    /// Nil where the canonical export shows the item now as it did then.
    ///
    /// - Parameter signed: the item as it was signed for; nil where it was not there.
    package init?(_ item: ItemID, from signed: ItemState?, to present: ItemState) {
        guard signed?.removed == nil else { return nil }
        self.item = item
        self.present = present
        if let removal = present.removed {
            kind = signed == nil ? .addedAndRemoved : .removed
            (fields, notes, write) = ([], [], removal)
            return
        }
        fields = present.fields.compactMap { field in
            guard let winner = field.register.winner else { return nil }
            let before = signed?.value(of: field.name)
            if let before, before.utf8.elementsEqual(winner.value.utf8) { return nil }
            return Field(name: field.name, signed: before, present: winner)
        }
        let known = Set(signed?.remarks ?? [])
        notes = present.remarks.filter { $0.list == WellKnownField.notes && !known.contains($0) }
        kind = signed == nil ? .added : .changed
        let writes = fields.map(\.present.write) + notes.map(\.write)
        guard let last = writes.max() ?? (signed == nil ? present.lastWrite : nil) else { return nil }
        write = last
    }
}

extension ItemState {
    /// Whether people see the same of it as of another one.
    package func shows(_ other: ItemState) -> Bool {
        // Byte by byte, as everywhere: equal strings may be spelt in different ways.
        let values = { (state: ItemState) in
            state.fields.reduce(into: [FieldName: [UInt8]]()) { values, field in
                values[field.name] = field.register.winner.map { Array($0.value.utf8) }
            }
        }
        return (removed == nil) == (other.removed == nil) && values(self) == values(other)
            && remarks.map { Array($0.text.utf8) } == other.remarks.map { Array($0.text.utf8) }
    }
}
