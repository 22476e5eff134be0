/// A change that was checked where it lies, without making objects of its values: what bulk paths work on.
package struct ScannedChange: Sendable {
    /// As `Change.item`; with a statement in it `ItemID.job`.
    package let item: ItemID
    /// At most `Stamp.greatest`.
    package let stamp: Stamp
    /// As `Change.anchor`, however absurd: the channel is not looked at here.
    package let anchor: UInt64
    /// As `Change.origin`.
    package let origin: ReplicaID?
    /// Its transforms, statements included: 1 to `ChangeLimits.operations`.
    package let operationCount: Int
    /// Whether the tombstone is among its transforms (rule R2).
    package let isRemoval: Bool
    /// Whether it sets `barcode`, which the store indexes.
    package let setsBarcode: Bool
    /// How many of its transforms are statements about the job.
    package let statementCount: Int
    /// The whole record, its length included.
    package let record: Range<Int>
    /// The record without its length.
    package let body: Range<Int>
    /// Its transforms, up to the end of the body.
    package let operations: Range<Int>

    /// Reads and checks the next change.
    package init(_ reader: inout ByteReader) throws(CodecError) {
        let start = reader.offset
        let length = try reader.readVarint()
        guard length <= UInt64(ChangeLimits.changeBytes) else { throw .limitExceeded("a change of \(length) bytes") }
        let body = try reader.readRange(count: Int(length))
        try self.init(record: start..<body.upperBound, body: body, in: reader.buffer)
    }

    /// Reads and checks the change that fills the rest of the reader, which has no length before it.
    package init(bodyOf reader: inout ByteReader) throws(CodecError) {
        let body = try reader.readRange(count: reader.end - reader.offset)
        try self.init(record: body, body: body, in: reader.buffer)
    }

    private init(record: Range<Int>, body: Range<Int>, in buffer: UnsafeRawBufferPointer) throws(CodecError) {
        self.record = record
        self.body = body
        var inner = ByteReader(buffer, from: body.lowerBound, to: body.upperBound)
        item = ItemID(try inner.readInteger())
        stamp = Stamp(rawValue: try inner.readInteger())
        guard stamp <= .greatest else { throw .limitExceeded("a stamp of the year 6429") }
        anchor = try inner.readVarint()
        let flags = try inner.readByte()
        guard flags & ~ChangeCodec.hasOrigin == 0 else { throw .unknownKind(flags) }
        origin = flags & ChangeCodec.hasOrigin == 0 ? nil : ReplicaID(try inner.readInteger())
        let count = try inner.readVarint()
        guard count > 0 else { throw .empty }
        guard count <= UInt64(ChangeLimits.operations) else { throw .limitExceeded("\(count) transforms in a change") }
        operationCount = Int(count)
        operations = inner.offset..<body.upperBound
        var found = Found()
        for _ in 0..<operationCount { try Self.scanOperation(&inner, &found) }
        guard inner.isAtEnd else { throw .trailingBytes }
        // A statement is about the job.
        if found.statements > 0, item != .job { throw .unknownKind(0) }
        isRemoval = found.removal
        setsBarcode = found.barcode
        statementCount = found.statements
    }

    /// Whether it says nothing but statements, which leave no trace in an item.
    package var isStatementOnly: Bool { statementCount > 0 && statementCount == operationCount }

    /// The sequence of its last transform.
    package func last(from first: UInt64) -> UInt64 { first + UInt64(operationCount) - 1 }

    /// As `Change.write(in:)`.
    package func write(in replica: ReplicaID) -> WriteStamp {
        WriteStamp(stamp: stamp, author: origin ?? replica)
    }

    private struct Found {
        var removal = false
        var barcode = false
        var statements = 0
    }

    private static func scanOperation(_ reader: inout ByteReader, _ found: inout Found) throws(CodecError) {
        let head = try reader.readByte()
        let code = head & 0x3F
        guard let kind = ChangeCodec.Kind(rawValue: head >> 6) else { throw .unknownKind(head) }
        if kind == .remove {
            if code == 0 {
                found.removal = true
            } else {
                _ = try StatementCodec.decode(code, &reader)
                found.statements += 1
            }
            return
        }
        if code == 0 {
            let name = try reader.readStringRange(atMost: FieldName.longest)
            guard !name.isEmpty else { throw .empty }
            // One name has one spelling in bytes, else equal changes could have unequal digests.
            if FieldName.codes[FieldName(checked: reader.string(name))] != nil { throw .overlong }
        } else if Int(code) > FieldName.frequent.count {
            throw .unknownKind(head)
        }
        if code == FieldName.barcodeCode, kind != .append { found.barcode = true }
        _ = try reader.readStringRange(atMost: ChangeLimits.valueBytes)
        guard kind == .replace else { return }
        let count = try reader.readVarint()
        guard count > 0 else { throw .empty }
        guard count <= UInt64(ChangeLimits.replacedWrites) else { throw .limitExceeded("\(count) replaced writes") }
        _ = try reader.readRange(count: Int(count) * 24)
    }
}
