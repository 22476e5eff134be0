/// How an item is stored: one blob with its registers packed, canonical for its state.
///
///     blob   = 1  author:16  change        an item that one change made: the change's body as it came
///            | 2  fields  remarks          anything merged
///            | 3  stamp:8  author:16  fields  remarks     removed, with what it was
///
/// The first form makes filling an empty store a matter of copying bytes.
package enum ItemStateCodec {
    static let pristine: UInt8 = 1
    static let merged: UInt8 = 2
    static let removed: UInt8 = 3

    /// Writes the blob of an item of which only this change is known, in the place of what `bytes` held.
    package static func encode(
        only scanned: ScannedChange, in buffer: UnsafeRawBufferPointer, of replica: ReplicaID, into bytes: inout [UInt8]
    ) {
        guard !scanned.isRemoval else {
            var state = ItemState()
            state.apply(ChangeCodec.decode(scanned, in: buffer), in: replica)
            bytes = encode(state)
            return
        }
        let write = scanned.write(in: replica)
        bytes.removeAll(keepingCapacity: true)
        bytes.append(pristine)
        withUnsafeBytes(of: write.author.value.bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[scanned.body]))
    }

    /// The blob in its second form, or in its third for a removed item.
    package static func encode(_ state: ItemState) -> [UInt8] {
        var writer = ByteWriter(reservingCapacity: 256)
        writer.write(byte: state.removed == nil ? merged : removed)
        if let write = state.removed { writer.write(write) }
        writer.write(varint: UInt64(state.fields.count))
        for field in state.fields { encode(field, into: &writer) }
        writer.write(varint: UInt64(state.remarks.count))
        for remark in state.remarks {
            writer.write(varint: remark.anchor)
            writer.write(remark.write)
            writer.write(remark.index)
            writer.write(remark.list.text)
            writer.write(remark.text)
        }
        return writer.bytes
    }

    /// Reads any of the three forms; throws a `CodecError` where it breaks off or is flawed.
    package static func decode(_ bytes: [UInt8]) throws(CodecError) -> ItemState {
        let outcome: Result<ItemState, CodecError> = bytes.withUnsafeBytes { buffer in
            do throws(CodecError) { return .success(try decode(buffer)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    /// As for an array. Texts are copied, so that the buffer may go afterwards.
    package static func decode(_ buffer: UnsafeRawBufferPointer) throws(CodecError) -> ItemState {
        var reader = ByteReader(buffer)
        switch try reader.readByte() {
        case pristine:
            let author = ReplicaID(try reader.readInteger())
            let scanned = try ScannedChange(bodyOf: &reader)
            var state = ItemState()
            state.apply(ChangeCodec.decode(scanned, in: buffer), in: author)
            return state
        case let form where form == merged || form == removed:
            let write = form == removed ? try reader.readWriteStamp() : nil
            var fields: [ItemState.Field] = []
            for _ in 0..<(try reader.readVarint()) { fields.append(try decodeField(&reader)) }
            var remarks: [ItemState.Remark] = []
            for _ in 0..<(try reader.readVarint()) { remarks.append(try decodeRemark(&reader)) }
            return ItemState(removed: write, fields: fields, remarks: remarks)
        case let other:
            throw .unknownKind(other)
        }
    }

    private static func encode(_ field: ItemState.Field, into writer: inout ByteWriter) {
        writer.write(field.name.text)
        writer.write(varint: UInt64(field.register.heads.count))
        for head in field.register.heads {
            writer.write(head.write)
            writer.write(varint: head.anchor)
            writer.write(head.value)
        }
        writer.write(varint: UInt64(field.register.replaced.count))
        for write in field.register.replaced { writer.write(write) }
    }

    private static func decodeField(_ reader: inout ByteReader) throws(CodecError) -> ItemState.Field {
        let name = FieldName(checked: try reader.readString(atMost: FieldName.longest))
        var heads: [Register.Head] = []
        for _ in 0..<(try reader.readVarint()) {
            let write = try reader.readWriteStamp()
            let anchor = try reader.readVarint()
            let value = try reader.readString(atMost: ChangeLimits.valueBytes)
            heads.append(Register.Head(write: write, anchor: anchor, value: value))
        }
        var replaced: [WriteStamp] = []
        for _ in 0..<(try reader.readVarint()) { replaced.append(try reader.readWriteStamp()) }
        return ItemState.Field(name: name, register: Register(heads: heads, replaced: replaced))
    }

    private static func decodeRemark(_ reader: inout ByteReader) throws(CodecError) -> ItemState.Remark {
        let anchor = try reader.readVarint()
        let write = try reader.readWriteStamp()
        let index: UInt16 = try reader.readInteger()
        let list = FieldName(checked: try reader.readString(atMost: FieldName.longest))
        let text = try reader.readString(atMost: ChangeLimits.valueBytes)
        return ItemState.Remark(anchor: anchor, write: write, index: index, list: list, text: text)
    }
}
