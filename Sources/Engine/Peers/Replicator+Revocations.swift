package import CRDT
import Logging
import Replication
import Storage
import Transport

/// Who was shut out of the fleet.
extension Replicator {
    /// This laptop has signed revocations itself, or was given some.
    package func revoked(_ news: RevocationNews) async {
        await announce(news, from: nil)
    }

    /// This laptop's key is of no use any more: it takes another one, and has to join anew.
    ///
    /// - Throws: what the key's file or the store reports; it may have the key by then, and takes another one when asked again.
    package func takeNewKey(reason: String) async throws {
        var generator = machine.generator
        try await store.renewDevice(to: try renewKey(), using: &generator)
        logger.warning("this store becomes a new replica", metadata: ["reason": "\(reason)"])
        perform(noteRenewal())
    }

    /// Ends the connections with these devices; they may connect anew.
    package func disconnect(_ devices: Set<DeviceID>, reason: String) {
        for peer in mesh.overview() where devices.contains(peer.peer.device) { close(peer.link, reason) }
    }

    /// What is known may have changed: also to nothing, when this laptop has left its fleet.
    func noteRevocations() {
        mesh.revocations = fleet?.revocationFingerprint ?? 0
    }

    func tellRevocations(to link: LinkID) {
        for message in Message.revocations(of: fleet?.revocationEntries ?? []) { links?.send(message, on: link) }
    }

    func learnRevocations(_ entries: [[UInt8]], from link: LinkID) async {
        guard let fleet else { return }
        do {
            if let news = try await fleet.learnRevocations(entries) { await announce(news, from: link) }
        } catch {
            close(link, error.description)
        }
    }

    func announce(_ news: RevocationNews, from link: LinkID?) async {
        for device in news.devices.sorted() {
            logger.warning("a laptop was revoked", metadata: ["device": "\(device.short)"])
        }
        noteRevocations()
        perform(mesh.onRevoked(news.entries, of: news.devices, from: link))
        // Before the revocation is durable: after a crash in between it is heard again, and this done then.
        await assignments?.cutOff(news.named)
        await fleet?.keepRevocations()
        assigned((assignments?.rosters ?? []).map(\.job))
    }
}
