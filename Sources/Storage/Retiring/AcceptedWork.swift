import CRDT
import GRDB
import Inventory
import Synchronization

/// Late changes written again, on what is there now.
struct AcceptedWork {
    let job: JobID
    let number: Int64
    let replica: ReplicaID
    let anchor: UInt64
    let store: Store
    let nowMilliseconds: UInt64
    private(set) var bytes: [UInt8] = []
    private var states: [ItemID: ItemState] = [:]
    /// Which new item stands for one that is gone.
    private var successors: [ItemID: ItemID] = [:]

    init(
        job: JobID, number: Int64, replica: ReplicaID, anchor: UInt64, store: Store, nowMilliseconds: UInt64
    ) {
        self.job = job
        self.number = number
        self.replica = replica
        self.anchor = anchor
        self.store = store
        self.nowMilliseconds = nowMilliseconds
    }

    mutating func take(_ late: LateChange, in db: Database) throws {
        let item = late.change.item
        var target = successors[item] ?? item
        let known = try state(of: target, in: db)
        // The late change may have removed what an earlier late change made.
        let isGone = known == nil || known?.removed != nil
        if late.change.operations.contains(.remove) {
            if !isGone { try write([.remove], on: target, in: db) }
            return
        }
        var operations: [CRDT.Operation] = []
        if isGone, item != .job {
            target = ItemID.derived(
                from: Array(item.description.utf8), late.dot, milliseconds: late.change.stamp.milliseconds)
            successors[item] = target
            if try state(of: target, in: db)?.removed != nil { return }
            operations.append(.set(field: WellKnownField.replaces, value: item.description, replaces: []))
        }
        let state = try state(of: target, in: db) ?? ItemState()
        for operation in late.change.operations {
            switch operation {
            case .set(let field, let value, _) where item != .job || !JobProperty.isAuthor(field):
                let isOwnName = field == WellKnownField.replaces && successors[item] != nil
                if !isOwnName { operations.append(Self.set(field, value, on: state, by: replica)) }
            case .append: operations.append(operation)
            default: break
            }
        }
        try write(operations, on: target, in: db)
    }

    mutating func set(_ fields: [(FieldName, String)], on item: ItemID, in db: Database) throws {
        let state = try state(of: item, in: db) ?? ItemState()
        try write(fields.map { Self.set($0.0, $0.1, on: state, by: replica) }, on: item, in: db)
    }

    private static func set(
        _ field: FieldName, _ value: String, on state: ItemState, by author: ReplicaID
    ) -> CRDT.Operation {
        let replaces = state[field]?.replacedByNewWrite(of: author) ?? []
        return .set(field: field, value: value, replaces: Array(replaces.suffix(ChangeLimits.replacedWrites)))
    }

    private func state(of item: ItemID, in db: Database) throws -> ItemState? {
        try states[item] ?? ItemTable.state(of: item, job: number, in: db)
    }

    private mutating func write(_ operations: [CRDT.Operation], on item: ItemID, in db: Database) throws {
        guard !operations.isEmpty else { return }
        var state = try state(of: item, in: db) ?? ItemState()
        // One more than a change may have, where the old item is named: the rest goes into a second.
        for start in stride(from: 0, to: operations.count, by: ChangeLimits.operations) {
            let part = Array(operations[start..<min(start + ChangeLimits.operations, operations.count)])
            let latest = state.latestStamp
            let stamp = store.clock.withLock { $0.tick(nowMilliseconds: nowMilliseconds, after: latest) }
            let change = Change(item: item, stamp: stamp, anchor: anchor, operations: part)
            bytes += ChangeCodec.encode(change)
            state.apply(change, in: replica)
        }
        states[item] = state
    }
}
