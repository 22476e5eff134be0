import CRDT
import Foundation
import Inventory
import Testing

@Suite("The canonical export")
struct CanonicalExportTests {
    private func export(_ items: [(ItemID, [CRDT.Operation])]) throws -> String {
        var export = CanonicalExport(job: JobID(ItemID(1)))
        var bytes: [UInt8] = []
        export.begin(into: &bytes)
        for (id, operations) in items {
            var state = ItemState()
            state.apply(Change(item: id, stamp: Stamp(rawValue: 1), operations: operations), in: ReplicaID(1))
            try ItemStateCodec.encode(state).withUnsafeBytes { export.add(try PackedItem($0), id: id, into: &bytes) }
        }
        export.end(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("It is exactly these bytes")
    func exactBytes() throws {
        let text = try export([
            (
                ItemID(2),
                [.set(field: "room", value: "Den", replaces: []), .set(field: "name", value: "Sofa", replaces: [])]
            ),
            (ItemID(3), [.remove]), (ItemID(4), [.append(list: "notes", entry: "a \"dent\"\n")]),
        ])
        #expect(
            text == #"{"items":[{"fields":{"name":"Sofa","room":"Den"},"id":"00000000-0000-0000-0000-000000000002","#
                + #""notes":[]},{"fields":{},"id":"00000000-0000-0000-0000-000000000004","notes":["a \"dent\"\n"]}],"#
                + #""job":"00000000-0000-0000-0000-000000000001","removed":["00000000-0000-0000-0000-000000000003"]}"#)
    }

    @Test("Every character comes back through a JSON reader")
    func escapes() throws {
        var value = "😀\\\"/"
        for number in 0..<0x250 as Range<UInt32> {
            if let scalar = Unicode.Scalar(number) { value.unicodeScalars.append(scalar) }
        }
        let text = try export([(ItemID(2), [.set(field: "name", value: value, replaces: [])])])
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let item = (object?["items"] as? [[String: Any]])?.first
        let read = (item?["fields"] as? [String: String])?["name"]
        #expect(read.map { Array($0.unicodeScalars) } == Array(value.unicodeScalars))
    }
}
