package import CRDT
package import Inventory

/// A job's items added up, for exactly one version vector.
package struct JobReport: Hashable, Sendable {
    package let vector: VersionVector
    /// SHA-256 of the canonical export, 64 hexadecimal digits.
    package let digest: String
    package let cubicFeet: Thousandths
    /// Barcodes that more than one item has.
    package let duplicateBarcodes: Int
}
