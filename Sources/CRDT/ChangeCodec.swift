/// The encoding of a change. It is canonical and context-free: a change has one form in bytes, and a journal is the
/// concatenation of its changes, so that it can be cut and joined at any change and digested as it is.
///
///     change    = length:varint  item:16  stamp:8  anchor:varint  flags:1  [origin:16]  count:varint  operation*
///     operation = kind:2bits|name:6bits  [name:string]  body
///     name      = 0: a string follows; else an entry of `FieldName.frequent`
///     body      = kind 0 remove: nothing, or a statement (see `StatementCodec`) whose code takes the place of the name;
///                 1 append: entry:string; 2 set: value:string; 3 set: value:string  count:varint  (stamp:8 author:16)*
///     string    = length:varint  UTF-8
///
/// Integers are big-endian, varints LEB128.
package enum ChangeCodec {
    static let hasOrigin: UInt8 = 1

    enum Kind: UInt8 {
        case remove = 0
        case append = 1
        case set = 2
        case replace = 3
    }

    /// The record of a change, its length first. It checks no bounds: what exceeds them is refused by the scanner.
    package static func encode(_ change: Change) -> [UInt8] {
        var body = ByteWriter(reservingCapacity: 64 + change.operations.count * 24)
        body.write(change.item.value)
        body.write(change.stamp.rawValue)
        body.write(varint: change.anchor)
        body.write(byte: change.origin == nil ? 0 : hasOrigin)
        if let origin = change.origin { body.write(origin.value) }
        body.write(varint: UInt64(change.operations.count))
        for operation in change.operations { encode(operation, into: &body) }
        var record = ByteWriter(reservingCapacity: body.bytes.count + 3)
        record.write(varint: UInt64(body.bytes.count))
        record.append(body.bytes)
        return record.bytes
    }

    private static func encode(_ operation: Operation, into writer: inout ByteWriter) {
        switch operation {
        case .remove:
            writer.write(byte: Kind.remove.rawValue << 6)
        case .append(let list, let entry):
            encode(.append, list, into: &writer)
            writer.write(entry)
        case .set(let field, let value, let replaces) where replaces.isEmpty:
            encode(.set, field, into: &writer)
            writer.write(value)
        case .set(let field, let value, let replaces):
            encode(.replace, field, into: &writer)
            writer.write(value)
            writer.write(varint: UInt64(replaces.count))
            for write in replaces { writer.write(write) }
        case .removeJob, .decide, .request, .withdraw, .acknowledge, .outcome, .publish:
            StatementCodec.encode(operation, into: &writer)
        }
    }

    private static func encode(_ kind: Kind, _ name: FieldName, into writer: inout ByteWriter) {
        let code = FieldName.codes[name]
        writer.write(byte: kind.rawValue << 6 | (code ?? 0))
        if code == nil { writer.write(name.text) }
    }

    /// Reads the change that a scanner found.
    package static func decode(_ scanned: ScannedChange, in buffer: UnsafeRawBufferPointer) -> Change {
        // The scanner has checked every length, so that nothing here can fail.
        guard let change = try? decodeBody(of: scanned, in: buffer) else {
            preconditionFailure("a scanned change is well-formed")
        }
        return change
    }

    /// Reads all changes of a run of journal.
    package static func decodeAll(_ bytes: [UInt8]) throws(CodecError) -> [Change] {
        var changes: [Change] = []
        try scan(bytes) { scanned, buffer in changes.append(decode(scanned, in: buffer)) }
        return changes
    }

    /// Checks a run of journal and shows each change to `body`; throws at the first flaw.
    package static func scan(
        _ bytes: [UInt8], _ body: (ScannedChange, UnsafeRawBufferPointer) -> Void
    ) throws(CodecError) {
        let outcome: Result<Void, CodecError> = bytes.withUnsafeBytes { buffer in
            var reader = ByteReader(buffer)
            do throws(CodecError) {
                while !reader.isAtEnd { body(try ScannedChange(&reader), buffer) }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try outcome.get()
    }

    private static func decodeBody(
        of scanned: ScannedChange, in buffer: UnsafeRawBufferPointer
    ) throws(CodecError) -> Change {
        var reader = ByteReader(buffer, from: scanned.operations.lowerBound, to: scanned.operations.upperBound)
        var operations: [Operation] = []
        operations.reserveCapacity(scanned.operationCount)
        while !reader.isAtEnd { operations.append(try decodeOperation(&reader)) }
        return Change(
            item: scanned.item, stamp: scanned.stamp, anchor: scanned.anchor, origin: scanned.origin,
            operations: operations)
    }

    private static func decodeOperation(_ reader: inout ByteReader) throws(CodecError) -> Operation {
        let head = try reader.readByte()
        guard let kind = Kind(rawValue: head >> 6) else { throw .unknownKind(head) }
        if kind == .remove { return head == 0 ? .remove : try StatementCodec.decode(head, &reader) }
        let code = Int(head & 0x3F)
        let name =
            code == 0
            ? FieldName(checked: try reader.readString(atMost: FieldName.longest)) : FieldName.frequent[code - 1]
        let value = try reader.readString(atMost: ChangeLimits.valueBytes)
        switch kind {
        case .append: return .append(list: name, entry: value)
        case .set: return .set(field: name, value: value, replaces: [])
        default:
            var replaces: [WriteStamp] = []
            for _ in 0..<(try reader.readVarint()) { replaces.append(try reader.readWriteStamp()) }
            return .set(field: name, value: value, replaces: replaces)
        }
    }
}
