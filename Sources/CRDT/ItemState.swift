/// What the changes of one item amount to. A pure function of the set of changes: order and repetition do not matter.
package struct ItemState: Hashable, Sendable {
    /// An entry of a grow-only list, in timeline order.
    package struct Remark: Hashable, Comparable, Sendable {
        /// As `Change.anchor` of the change that wrote it.
        package let anchor: UInt64
        /// Who wrote it first, and when.
        package let write: WriteStamp
        /// Place within its change.
        package let index: UInt16
        /// Which list it was appended to, such as `notes`.
        package let list: FieldName
        /// At most `ChangeLimits.valueBytes` bytes of UTF-8.
        package let text: String

        /// Takes an entry as a change brought it.
        /// - Parameter index: the place of its transform within the change, from 0.
        package init(anchor: UInt64, write: WriteStamp, index: UInt16, list: FieldName, text: String) {
            self.anchor = anchor
            self.write = write
            self.index = index
            self.list = list
            self.text = text
        }

        /// Rule R7: the server's order first, time only second. The bytes decide between what a copied store wrote twice.
        package static func < (left: Remark, right: Remark) -> Bool {
            let leftKey = (left.anchor, left.write, left.index)
            let rightKey = (right.anchor, right.write, right.index)
            if leftKey != rightKey { return leftKey < rightKey }
            if left.list != right.list { return left.list < right.list }
            return left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
        }

        /// Equal when neither precedes the other: in all parts, texts by their bytes.
        package static func == (left: Remark, right: Remark) -> Bool {
            !(left < right) && !(right < left)
        }
    }

    /// A register under its name; an item has one for each name that was ever set.
    package struct Field: Hashable, Sendable {
        /// What an item's fields ascend by.
        package let name: FieldName
        /// The writes of the field that still count; the last one shows.
        package var register: Register

        /// Takes both as they are; `ItemState` keeps its fields in order.
        package init(name: FieldName, register: Register) {
            self.name = name
            self.register = register
        }
    }

    /// Who removed it, and when: the earliest remove known. Once set, the item never shows again (rule R2). What it was is
    /// still kept, and what others wrote on it meanwhile: people look it up, and bring it back as a new item.
    package private(set) var removed: WriteStamp?
    /// Ascending by name.
    package private(set) var fields: [Field] = []
    /// Ascending in timeline order.
    package private(set) var remarks: [Remark] = []

    /// An item of which no change is known.
    package init() {}

    init(removed: WriteStamp?, fields: [Field], remarks: [Remark]) {
        self.removed = removed
        self.fields = fields
        self.remarks = remarks
    }

    /// Takes a change of the journal of `replica` in.
    package mutating func apply(_ change: Change, in replica: ReplicaID) {
        let write = change.write(in: replica)
        for (index, operation) in change.operations.enumerated() {
            switch operation {
            case .remove:
                removed = min(removed ?? write, write)
            case .set(let field, let value, let replaces):
                let head = Register.Head(write: write, anchor: change.anchor, value: value)
                // Its own earlier writes need no mention, and a write cannot replace itself.
                let others = replaces.filter { $0.author != write.author }
                fields[position(of: field)].register.apply(head, replaces: others)
            case .append(let list, let entry):
                insert(
                    Remark(
                        anchor: change.anchor, write: write, index: UInt16(truncatingIfNeeded: index), list: list,
                        text: entry))
            case .removeJob, .decide, .request, .withdraw, .acknowledge, .outcome, .publish: break
            }
        }
    }

    /// Nil for a field that no known change has set.
    package subscript(name: FieldName) -> Register? {
        fields.first { $0.name == name }?.register
    }

    /// The value that wins; nil when the field is not there.
    package func value(of name: FieldName) -> String? {
        self[name]?.winner?.value
    }

    /// How many fields have a write that lost without the winner's author having seen it; none once it is removed.
    package var conflictCount: Int {
        removed != nil ? 0 : fields.reduce(0) { $0 + ($1.register.losers.isEmpty ? 0 : 1) }
    }

    /// The greatest stamp that the item holds: what is written on top of it has to be later.
    package var latestStamp: Stamp {
        var latest = removed?.stamp ?? .zero
        for field in fields { latest = max(latest, field.register.winner?.write.stamp ?? .zero) }
        for remark in remarks { latest = max(latest, remark.write.stamp) }
        return latest
    }

    /// The last write that shows in the item.
    package var lastWrite: WriteStamp? {
        let writes = fields.compactMap { $0.register.winner?.write } + remarks.map(\.write)
        return removed ?? writes.max()
    }

    private mutating func position(of name: FieldName) -> Int {
        let index = fields.firstIndex { $0.name >= name } ?? fields.count
        if index == fields.count || fields[index].name != name {
            fields.insert(Field(name: name, register: Register()), at: index)
        }
        return index
    }

    private mutating func insert(_ remark: Remark) {
        let index = remarks.firstIndex { $0 >= remark } ?? remarks.count
        if index == remarks.count || remarks[index] != remark { remarks.insert(remark, at: index) }
    }
}
