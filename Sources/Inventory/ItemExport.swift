package import CRDT

/// A form of a job's inventory that is written while its items are read, in ascending order.
package protocol ItemExport: Sendable {
    /// Whether `survey` has to see every item before the first is written.
    static var needsSurvey: Bool { get }

    /// The job went as a whole; then no item may be added. To be told before `begin`.
    mutating func jobIsRemoved()

    /// Looks at an item before anything is written.
    mutating func survey(_ item: PackedItem)

    /// Writes what stands before the first item; to be called once, first.
    func begin(into bytes: inout [UInt8])

    /// Writes one item.
    /// - Parameter id: greater than all before, and never `ItemID.job`.
    mutating func add(_ item: PackedItem, id: ItemID, into bytes: inout [UInt8])

    /// Writes what stands behind the last item; to be called once, last.
    func end(into bytes: inout [UInt8])
}

extension PackedItem {
    /// The remarks that people know as notes.
    var notes: [Remark] { remarks.filter { $0.list == WellKnownField.notes } }
}
