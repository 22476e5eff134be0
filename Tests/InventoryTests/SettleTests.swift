import CRDT
import Testing

@testable import Inventory

/// Settling a conflict.
struct SettleTests {
    private let replicas = (1...3).map { ReplicaID(UInt128($0)) }

    private func set(_ value: String, at milliseconds: UInt64, replaces: [WriteStamp] = []) -> Change {
        Change(
            item: ItemID(1), stamp: Stamp(milliseconds: milliseconds, counter: 0),
            operations: [.set(field: "room", value: value, replaces: replaces)])
    }

    private func rivals() throws -> (state: ItemState, writes: [WriteStamp]) {
        var state = ItemState()
        for (index, value) in ["Hall", "Den", "Attic"].enumerated() {
            state.apply(set(value, at: UInt64(100 + index)), in: replicas[index])
        }
        return (state, try #require(state["room"]).heads.map(\.write))
    }

    @Test("Taking one value replaces every rival, its own author's too")
    func settles() throws {
        var (state, writes) = try rivals()
        let edit = Edit.settle(
            item: ItemID(1), field: Edit.FieldValue(field: "room", value: "Den"), rivals: writes)
        let operations = try edit.composed(on: state, by: replicas[1])
        state.apply(
            Change(item: ItemID(1), stamp: Stamp(milliseconds: 200, counter: 0), operations: operations),
            in: replicas[1])
        #expect(state.value(of: "room") == "Den")
        #expect(state.conflictCount == 0 && state["room"]?.heads.count == 1)
    }

    @Test("What was written after the rivals were shown is not replaced unseen")
    func refusesUnseen() throws {
        var (state, writes) = try rivals()
        state.apply(set("Porch", at: 150), in: ReplicaID(9))
        let edit = Edit.settle(
            item: ItemID(1), field: Edit.FieldValue(field: "room", value: "Den"), rivals: writes)
        #expect(throws: EditRefusal.rivalsChanged("room")) { try edit.composed(on: state, by: replicas[0]) }
        #expect(EditRefusal.rivalsChanged("room").sentence.contains("choose again"))
    }
}
