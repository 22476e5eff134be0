package import CRDT

/// The digest of a job's inventory, for exactly one version vector.
package struct JobDigest: Hashable, Sendable {
    /// How far the journals were held whose items it covers.
    package let vector: VersionVector
    /// `JournalLimits.fingerprint`: which of their changes do not count.
    let limits: UInt64
    /// SHA-256 of the canonical export, 64 hexadecimal digits.
    package let text: String
}
