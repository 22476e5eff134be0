import CRDT
import Engine
import Transport

/// A fleet that has let in everybody, but as servers none except the company's, with each key that it has had.
struct SimulatedRegister: FleetRegister {
    var revocationFingerprint: UInt64 { 0 }
    var revocationEntries: [[UInt8]] { [] }

    func learnRevocations(_ entries: [[UInt8]]) async throws(LinkRefusal) -> RevocationNews? { nil }
    func keepRevocations() async {}
    func isShutOut(_ device: DeviceID) -> Bool { false }
    func met(_ device: DeviceID, name: String) {}

    func vouches(for author: JournalAuthor) async -> Bool {
        !author.isServer || SimulatedServer.signers.contains { $0.publicKey == author.key }
    }
}
