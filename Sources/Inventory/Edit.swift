package import CRDT

/// What a person asks for; `composed` turns it into the transforms that say it.
package enum Edit: Hashable, Sendable {
    /// A new item, or an existing one with further fields.
    case put(item: ItemID, fields: [FieldValue])
    case note(item: ItemID, text: String)
    case remove(item: ItemID)
    /// Takes one value for a field that has rivals: of exactly the writes that the person was shown.
    case settle(item: ItemID, field: FieldValue, rivals: [WriteStamp])

    /// What is edited; `ItemID.job` for the job's own name and kind.
    package var item: ItemID {
        switch self {
        case .put(let item, _), .note(let item, _), .remove(let item), .settle(let item, _, _): item
        }
    }

    /// A field and the value it gets.
    package struct FieldValue: Hashable, Sendable {
        /// Each field once in an edit.
        package let field: FieldName
        /// UTF-8 of at most `ChangeLimits.valueBytes`; a longer one is refused by `composed`.
        package let value: String

        /// Takes any value: `FieldText` says beforehand what people may enter.
        package init(field: FieldName, value: String) {
            self.field = field
            self.value = value
        }
    }
}

/// Why an edit cannot be made. Nothing has changed.
package enum EditRefusal: Error, Hashable, Sendable {
    case removed(ItemID)
    case unknown(ItemID)
    /// It was to be a new one.
    case known(ItemID)
    case noFields
    case tooManyFields(Int)
    case valueTooLong(FieldName, bytes: Int)
    case changeTooLarge(bytes: Int)
    case fieldTwice(FieldName)
    /// Somebody has written the field since its rivals were shown.
    case rivalsChanged(FieldName)

    /// One sentence: what is wrong and what to do.
    package var sentence: String {
        switch self {
        case .removed(let item):
            "Item \(item) has been removed; bring it back as a new item with 'muster item restore'."
        case .unknown(let item):
            "There is no item \(item) in this job; 'muster item list' shows the items."
        case .known(let item):
            "Item \(item) is there already; read it again."
        case .noFields:
            "No field was given; name at least one as FIELD=VALUE."
        case .tooManyFields(let count):
            "\(count) fields in one change are too many; give at most \(ChangeLimits.operations) at a time."
        case .valueTooLong(let field, let bytes):
            "The value of '\(field)' has \(bytes) bytes; shorten it to \(ChangeLimits.valueBytes)."
        case .changeTooLarge(let bytes):
            "The change has \(bytes) bytes; split it into changes of at most \(ChangeLimits.changeBytes)."
        case .fieldTwice(let field):
            "The field '\(field)' is given twice; give it once."
        case .rivalsChanged(let field):
            "The field '\(field)' has been written meanwhile; see 'muster job conflicts' and choose again."
        }
    }
}

extension Edit {
    /// The transforms of this edit on an item as the author sees it.
    ///
    /// A set names the writes that it replaces, so that every replica can tell an overwrite from a conflict.
    package func composed(on state: ItemState, by author: ReplicaID) throws(EditRefusal) -> [Operation] {
        guard state.removed == nil else { throw .removed(item) }
        switch self {
        case .put(_, let fields):
            guard !fields.isEmpty else { throw .noFields }
            guard fields.count <= ChangeLimits.operations else { throw .tooManyFields(fields.count) }
            var operations: [Operation] = []
            var bytes = 0
            for (index, pair) in fields.enumerated() {
                try Self.checkLength(of: pair.value, in: pair.field)
                if fields[..<index].contains(where: { $0.field == pair.field }) { throw .fieldTwice(pair.field) }
                bytes += pair.value.utf8.count + FieldName.longest
                let replaces = state[pair.field]?.replacedByNewWrite(of: author) ?? []
                let named = replaces.suffix(ChangeLimits.replacedWrites)
                bytes += named.count * 24
                operations.append(.set(field: pair.field, value: pair.value, replaces: Array(named)))
            }
            guard bytes < ChangeLimits.changeBytes - 1024 else { throw .changeTooLarge(bytes: bytes) }
            return operations
        case .note(_, let text):
            try Self.checkLength(of: text, in: WellKnownField.notes)
            return [.append(list: WellKnownField.notes, entry: text)]
        case .remove:
            return [.remove]
        case .settle(let item, let field, let rivals):
            guard state[field.field]?.heads.map(\.write) == rivals else { throw .rivalsChanged(field.field) }
            return try Edit.put(item: item, fields: [field]).composed(on: state, by: author)
        }
    }

    private static func checkLength(of value: String, in field: FieldName) throws(EditRefusal) {
        let bytes = value.utf8.count
        guard bytes <= ChangeLimits.valueBytes else { throw .valueTooLong(field, bytes: bytes) }
    }
}
