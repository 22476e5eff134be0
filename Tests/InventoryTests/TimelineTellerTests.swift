import CRDT
import Inventory
import Testing

@Suite("What a line of the timeline says that its author saw")
struct TimelineTellerTests {
    @Test(
        "Of two values that copies of a store wrote at one time it is the one that shows",
        arguments: [["1", ""], ["", "1"]])
    func twoAtOneTime(values: [String]) {
        let (copied, bert) = (ReplicaID(7), ReplicaID(8))
        let item = ItemID(5)
        var teller = TimelineTeller(counts: [item: 3])
        let first = Stamp(milliseconds: 1_000, counter: 0)
        for (journal, value) in zip([copied, ReplicaID(9)], values) {
            var change = Change(
                item: item, stamp: first, operations: [.set(field: "quantity", value: value, replaces: [])])
            change.origin = copied
            _ = teller.tell(change, at: TimelineKey(change, at: Dot(replica: journal, sequence: 1)), item: nil)
        }
        let last = Change(
            item: item, stamp: Stamp(milliseconds: 2_000, counter: 0),
            operations: [
                .set(field: "quantity", value: "3", replaces: [WriteStamp(stamp: first, author: copied)])
            ])
        let line = teller.tell(last, at: TimelineKey(last, at: Dot(replica: bert, sequence: 1)), item: nil)
        #expect(line?.settings.map(\.before) == ["1"])
    }
}
