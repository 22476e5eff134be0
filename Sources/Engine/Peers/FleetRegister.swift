package import CRDT
package import Transport

/// What a laptop knows of its fleet's others, and of who was shut out; the daemon's identity implements it.
package protocol FleetRegister: Sendable {
    /// One number for all that are known.
    var revocationFingerprint: UInt64 { get }
    /// All that are known, as they are passed on.
    var revocationEntries: [[UInt8]] { get }

    /// Looks at what a peer has sent, and takes those that are signed: they are in force at once, and durable with
    /// `keepRevocations`.
    ///
    /// - Returns: what was not known; nil when all was.
    /// - Throws: `LinkRefusal` when there is one among them that nobody of the fleet has signed.
    func learnRevocations(_ entries: [[UInt8]]) async throws(LinkRefusal) -> RevocationNews?

    /// Makes all that is in force durable.
    func keepRevocations() async

    /// Whether it is revoked, or was let in by one that is.
    func isShutOut(_ device: DeviceID) -> Bool

    /// Whether a journal's author is, or was, of this fleet. When its certificate holds is not asked: what was written stays
    /// written, and a key stays the same when it is renewed.
    func vouches(for author: JournalAuthor) async -> Bool

    /// A laptop that was let in has said what people call it.
    func met(_ device: DeviceID, name: String)
}

/// Revocations that a laptop has come to know of.
package struct RevocationNews: Hashable, Sendable {
    /// As they are passed on.
    package let entries: [[UInt8]]
    /// Whom they name.
    package let named: Set<DeviceID>
    /// Whom they shut out: those, and whom those have let in, as far as is known.
    package let devices: Set<DeviceID>

    /// Takes all as they are.
    package init(entries: [[UInt8]], named: Set<DeviceID>, devices: Set<DeviceID>) {
        self.entries = entries
        self.named = named
        self.devices = devices
    }
}
