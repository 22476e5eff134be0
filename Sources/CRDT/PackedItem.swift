/// An item read where it is stored, without making objects of its values: for passes over a whole job.
///
/// It borrows its buffer, like `ByteReader`.
package struct PackedItem {
    /// A register of which only the winning value is told, where it lies.
    package struct Field {
        /// Each once in an item.
        package let name: FieldName
        /// Of the winning value.
        package let value: Range<Int>
        /// The place of a frequent name in the order of names; nil for another name.
        fileprivate let rank: Int?
    }

    /// An entry of a grow-only list, where it lies.
    package struct Remark {
        /// Which list it was appended to, such as `notes`.
        package let list: FieldName
        /// Where its UTF-8 lies in the buffer.
        package let text: Range<Int>
    }

    /// The blob, borrowed: the ranges count from its start.
    package let buffer: UnsafeRawBufferPointer
    /// Then it has no fields and no remarks any more for who passes over the job.
    package private(set) var isRemoved = false
    /// Ascending by name.
    package private(set) var fields: [Field] = []
    /// In timeline order.
    package private(set) var remarks: [Remark] = []
    /// As `ItemState.lastWrite`; nil for a removed item.
    package private(set) var lastWrite: WriteStamp?

    /// Reads a blob of `ItemStateCodec`.
    package init(_ buffer: UnsafeRawBufferPointer) throws(CodecError) {
        self.buffer = buffer
        var reader = ByteReader(buffer)
        switch try reader.readByte() {
        case ItemStateCodec.pristine:
            let author = ReplicaID(try reader.readInteger())
            let scanned = try ScannedChange(bodyOf: &reader)
            lastWrite = scanned.write(in: author)
            try readChange(scanned)
        case ItemStateCodec.merged: try readMerged(&reader)
        case ItemStateCodec.removed: isRemoved = true
        case let other: throw .unknownKind(other)
        }
    }

    /// What a range of a field or remark holds; valid no longer than the buffer.
    package func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: buffer[range])
    }

    /// A copy of the winning value; nil when there is no such field or the item is removed.
    package func value(of name: FieldName) -> String? {
        fields.first { $0.name == name }.map { String(decoding: buffer[$0.value], as: UTF8.self) }
    }

    private mutating func readChange(_ scanned: ScannedChange) throws(CodecError) {
        var reader = ByteReader(buffer, from: scanned.operations.lowerBound, to: scanned.operations.upperBound)
        fields.reserveCapacity(scanned.operationCount)
        while !reader.isAtEnd {
            let head = try reader.readByte()
            guard let kind = ChangeCodec.Kind(rawValue: head >> 6), kind != .remove else { throw .unknownKind(head) }
            let code = Int(head & 0x3F)
            let isFrequent = code > 0
            let name =
                isFrequent
                ? FieldName.frequent[code - 1] : FieldName(checked: try reader.readString(atMost: FieldName.longest))
            let value = try reader.readRange(count: Int(clamping: try reader.readVarint()))
            if kind == .append {
                remarks.append(Remark(list: name, text: value))
            } else {
                fields.append(Field(name: name, value: value, rank: isFrequent ? FieldName.ranks[code - 1] : nil))
            }
            if kind == .replace { try reader.skipWriteStamps() }
        }
        sortFields()
    }

    private mutating func sortFields() {
        fields.sort { left, right in
            if let leftRank = left.rank, let rightRank = right.rank { return leftRank < rightRank }
            return left.name < right.name
        }
        guard zip(fields, fields.dropFirst()).contains(where: { $0.name == $1.name }) else { return }
        // One change that sets a field twice: the greater bytes win, as in `Register`.
        var unique: [Field] = []
        for field in fields {
            if let last = unique.last, last.name == field.name {
                if bytes(last.value).lexicographicallyPrecedes(bytes(field.value)) { unique[unique.count - 1] = field }
            } else {
                unique.append(field)
            }
        }
        fields = unique
    }

    private mutating func readMerged(_ reader: inout ByteReader) throws(CodecError) {
        for _ in 0..<(try reader.readVarint()) {
            let name = FieldName(checked: try reader.readString(atMost: FieldName.longest))
            var winner: (value: Range<Int>, write: WriteStamp)?
            for _ in 0..<(try reader.readVarint()) {
                let write = try reader.readWriteStamp()
                _ = try reader.readVarint()
                winner = (try reader.readRange(count: Int(clamping: try reader.readVarint())), write)
            }
            try reader.skipWriteStamps()
            guard let winner else { continue }
            fields.append(Field(name: name, value: winner.value, rank: nil))
            note(winner.write)
        }
        for _ in 0..<(try reader.readVarint()) {
            _ = try reader.readVarint()
            note(try reader.readWriteStamp())
            _ = try reader.readRange(count: 2)
            let list = FieldName(checked: try reader.readString(atMost: FieldName.longest))
            let text = try reader.readRange(count: Int(clamping: try reader.readVarint()))
            remarks.append(Remark(list: list, text: text))
        }
    }

    private mutating func note(_ write: WriteStamp) {
        lastWrite = max(lastWrite ?? write, write)
    }
}

extension FieldName {
    /// Per frequent name, its place in the order of names.
    fileprivate static let ranks: [Int] = {
        let order = frequent.sorted()
        return frequent.map { name in order.firstIndex(of: name) ?? 0 }
    }()
}
