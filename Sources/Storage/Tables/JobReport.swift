package import CRDT
package import Inventory

/// A job's items added up, for exactly one version vector.
package struct JobReport: Hashable, Sendable {
    /// How far the journals were held whose items were added up.
    package let vector: VersionVector
    /// SHA-256 of the canonical export, 64 hexadecimal digits.
    package let digest: String
    /// The volume of the items that are not removed; see `VolumeSummary` for what it leaves out.
    package let cubicFeet: Thousandths
    /// Barcodes that more than one item has.
    package let duplicateBarcodes: Int
}
