package import Inventory

/// What a job's items add up to.
package struct JobTotals: Hashable, Sendable {
    /// The volume of the items that are not removed; see `VolumeSummary` for what it leaves out.
    package let cubicFeet: Thousandths
    /// How many barcodes more than one item has.
    package let duplicateBarcodes: Int

    /// Takes both as they were counted.
    package init(cubicFeet: Thousandths, duplicateBarcodes: Int) {
        self.cubicFeet = cubicFeet
        self.duplicateBarcodes = duplicateBarcodes
    }
}
