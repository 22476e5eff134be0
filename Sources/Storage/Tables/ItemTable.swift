package import CRDT
import GRDB
import GRDBSQLite
import Inventory

/// The rows of `item`, and the one loop that takes changes in, be they a person's or a peer's.
///
/// The loop binds to prepared statements of the SQLite C API: GRDB's general argument path costs a factor of three here.
struct ItemTable {
    private let job: JobRows
    private var db: Database { job.db }
    private let insert: RawStatement
    private let select: RawStatement
    private let update: RawStatement
    private var barcodes: BarcodeTable
    private var scratch: [UInt8] = []
    private(set) var counts = ItemCounts()
    /// What happened, for people who watch; only of small batches.
    private(set) var applied: [AppliedChange] = []
    private let collectsApplied: Bool
    private var known: KnownItems

    init(of job: JobRows, collectsApplied: Bool = false, knowing known: KnownItems = KnownItems()) throws {
        self.known = known
        self.collectsApplied = collectsApplied
        self.job = job
        insert = try RawStatement(
            "INSERT INTO item (job, id, state) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING", in: job.db)
        select = try RawStatement("SELECT state FROM item WHERE job = ?1 AND id = ?2", in: job.db)
        update = try RawStatement("UPDATE item SET state = ?3 WHERE job = ?1 AND id = ?2", in: job.db)
        barcodes = try BarcodeTable(of: job)
    }

    /// Takes one change of the journal of `replica` in.
    ///
    /// Inserts first and looks only when the row is there already: in a catch-up it hardly ever is.
    ///
    /// - Parameter sequence: of its first transform.
    mutating func apply(
        _ scanned: ScannedChange, in buffer: UnsafeRawBufferPointer, of replica: ReplicaID, sequence: UInt64
    ) throws {
        // The record begins with the id, big-endian, just as the table wants it.
        let id = UnsafeRawBufferPointer(rebasing: buffer[scanned.body.lowerBound..<scanned.body.lowerBound + 16])
        let dot = Dot(replica: replica, sequence: sequence)
        if let before = known[scanned.item] {
            return try merge(ChangeCodec.decode(scanned, in: buffer), into: before, id: id, at: dot)
        }
        ItemStateCodec.encode(only: scanned, in: buffer, of: replica, into: &scratch)
        try insert.bind(job.number, id, scratch)
        try insert.run()
        guard db.changesCount == 0 else {
            if scanned.item != .job { try countNew(scanned) }
            if collectsApplied {
                let change = ChangeCodec.decode(scanned, in: buffer)
                applied.append(
                    AppliedChange(
                        change: change, dot: dot, before: nil,
                        after: try ItemStateCodec.decode(scratch)))
            }
            return
        }
        try select.bind(job.number, id)
        let before = try select.firstBlob { try ItemStateCodec.decode($0) } ?? ItemState()
        try merge(ChangeCodec.decode(scanned, in: buffer), into: before, id: id, at: dot)
    }

    /// To be called after the last change.
    mutating func finish() throws {
        counts.duplicateBarcodes = barcodes.moreDuplicates
        try job.add(counts)
        try barcodes.finish()
    }

    /// An item that one change has made, read where it lies.
    private mutating func countNew(_ scanned: ScannedChange) throws {
        guard !scanned.isRemoval else { return counts.removed += 1 }
        counts.items += 1
        let (cubicFeet, barcode) = try scratch.withUnsafeBytes { blob in
            let packed = try PackedItem(blob)
            return (ItemVolume(field: packed.value(of:)).cubicFeet, packed.value(of: WellKnownField.barcode))
        }
        counts.addVolume(cubicFeet)
        if let barcode { try barcodes.change(of: scanned.item, from: nil, to: barcode) }
    }

    private mutating func merge(
        _ change: Change, into before: ItemState, id: UnsafeRawBufferPointer, at dot: Dot
    ) throws {
        var after = before
        after.apply(change, in: dot.replica)
        known.note(after, of: change.item)
        if collectsApplied { applied.append(AppliedChange(change: change, dot: dot, before: before, after: after)) }
        guard after != before else { return }
        try update.bind(job.number, id, ItemStateCodec.encode(after))
        try update.run()
        let conflicts = (before.conflictCount, after.conflictCount)
        if conflicts.0 != conflicts.1 { try job.setConflict(conflicts.1 > 0, of: change.item) }
        counts.conflicts += conflicts.1 - conflicts.0
        guard change.item != .job else { return }
        if before.removed == nil, after.removed != nil {
            counts.items -= 1
            counts.removed += 1
        }
        counts.addVolume(after.cubicFeet, instead: before.cubicFeet)
        try barcodes.change(of: change.item, from: before.barcode, to: after.barcode)
    }
}

/// States that were read in this transaction, so that an edited item is looked up and decoded once.
struct KnownItems {
    private var states: [ItemID: ItemState] = [:]

    subscript(item: ItemID) -> ItemState? { states[item] }

    /// Nil when nothing is known of the item.
    mutating func state(of item: ItemID, in job: JobRows) throws -> ItemState? {
        let state = try job.item(item)
        states[item] = state
        return state
    }

    /// Of an item that was read before.
    mutating func note(_ state: ItemState, of item: ItemID) {
        if states[item] != nil { states[item] = state }
    }
}

extension ItemState {
    /// What it adds to its job's volume: nothing when it is removed.
    fileprivate var cubicFeet: Thousandths { removed == nil ? ItemVolume(field: value(of:)).cubicFeet : .zero }
    /// Under which it is found among the items that are not removed.
    fileprivate var barcode: String? { removed == nil ? value(of: WellKnownField.barcode) : nil }
}

/// A change that was taken in, and what it made of its item.
package struct AppliedChange: Hashable, Sendable {
    /// The change as it stands in its journal.
    package let change: Change
    /// Of its first transform.
    package let dot: Dot
    /// Nil when nothing was known of the item.
    package let before: ItemState?
    /// The item with the change; empty for a statement, which is of no item.
    package let after: ItemState
}
