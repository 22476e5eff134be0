import CRDT
import Testing

@Suite("Reading an item where it is stored")
struct PackedItemTests {
    private func read(_ blob: [UInt8]) throws -> (removed: Bool, fields: [String], notes: [String]) {
        try blob.withUnsafeBytes { buffer in
            let item = try PackedItem(buffer)
            let fields = item.fields.map { "\($0.name)=\(String(decoding: item.bytes($0.value), as: UTF8.self))" }
            let notes = item.remarks.map { String(decoding: item.bytes($0.text), as: UTF8.self) }
            return (item.isRemoved, fields, notes)
        }
    }

    private func expected(_ state: ItemState) -> (removed: Bool, fields: [String], notes: [String]) {
        guard state.removed == nil else { return (true, [], []) }
        return (
            false,
            state.fields.compactMap { field in field.register.winner.map { "\(field.name)=\($0.value)" } },
            state.remarks.map(\.text)
        )
    }

    @Test("It shows what the merged state shows", arguments: 1...60 as ClosedRange<UInt64>)
    func merged(seed: UInt64) throws {
        let state = Histories.state(of: Histories.random(replicas: 4, changes: 20, seed: seed))
        #expect(try read(ItemStateCodec.encode(state)) == expected(state))
    }

    @Test("A count of replaced writes that no bytes can follow is refused")
    func tooMany() {
        var writer = ByteWriter()
        for byte in [2, 1] as [UInt8] { writer.write(byte: byte) }
        writer.write("room")
        writer.write(varint: 0)
        writer.write(varint: .max)
        #expect(throws: CodecError.self) { try read(writer.bytes) }
    }

    @Test("It shows a single change as the merge of it would, in the order of names")
    func pristine() throws {
        let names: [FieldName] = ["zebra", "room", "barcode", "größe", "accession_number", "name", "a"]
        let sets = names.map { Operation.set(field: $0, value: "of \($0)", replaces: []) }
        let twice = [Operation.set(field: "room", value: "zz", replaces: []), .append(list: "notes", entry: "dent")]
        let change = Change(item: ItemID(3), stamp: Stamp(rawValue: 9), operations: sets + twice)
        var state = ItemState()
        state.apply(change, in: ReplicaID(1))
        var blob: [UInt8] = []
        try ChangeCodec.scan(ChangeCodec.encode(change)) { scanned, buffer in
            ItemStateCodec.encode(only: scanned, in: buffer, of: ReplicaID(1), into: &blob)
        }
        #expect(try read(blob) == expected(state))
        #expect(try read(blob).fields.contains("room=zz"))
    }
}
