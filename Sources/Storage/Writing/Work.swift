import CRDT

/// A change by whoever wrote it first, wherever it stands.
struct Work: Hashable {
    private let item: ItemID
    private let operations: [CRDT.Operation]
    private let author: WriteStamp

    init(_ change: Change, in replica: ReplicaID) {
        item = change.item
        operations = change.operations
        author = change.write(in: replica)
    }
}
