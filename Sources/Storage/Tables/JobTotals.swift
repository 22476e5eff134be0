package import CRDT
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

/// The digest of a job's inventory, for exactly one version vector.
package struct JobDigest: Hashable, Sendable {
    /// How far the journals were held whose items it covers.
    package let vector: VersionVector
    /// SHA-256 of the canonical export, 64 hexadecimal digits.
    package let text: String
}
