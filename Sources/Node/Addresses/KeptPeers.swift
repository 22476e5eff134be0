import Foundation
import HTTPCoding
import LocalAPI
import Replication
import Synchronization

/// Addresses that people have named for good: they are dialled after each start, until somebody takes them back.
final class KeptPeers: Sendable {
    /// In the state directory: a list of addresses in JSON.
    static let file = "peers.json"
    static let damagedFile = "peers.json.damaged"
    /// As many as this device dials beside each other (docs/mesh.md, "Room").
    static let most = 64

    /// Those of the configuration, which stand there.
    let configured: [PeerAddress]
    /// Nil in tests that keep nothing.
    private let files: FleetFiles?
    private let addresses: Mutex<[PeerAddress]>

    /// Takes up what was kept.
    ///
    /// - Parameter damaged: told where some of it could not be read, and was put aside as `damagedFile`.
    /// - Throws: `ConfigurationError` where there is no reading at all.
    init(in files: FleetFiles?, configured: [PeerAddress], damaged: () -> Void = {}) throws {
        self.files = files
        self.configured = configured
        guard let files, let text = try files.read(Self.file) else {
            addresses = Mutex([])
            return
        }
        let texts = try? JSON.decode([String].self, from: text.utf8)
        let kept = texts?.compactMap(PeerAddress.init) ?? []
        addresses = Mutex(kept)
        // A list that only spares typing keeps nobody from the inventory.
        if kept.count != texts?.count {
            try files.write(text, to: Self.damagedFile)
            damaged()
        }
    }

    /// In their order.
    var all: [PeerAddress] { addresses.withLock { $0 } }

    /// Durable when this returns.
    ///
    /// - Throws: `ConfigurationError`, or `APIError` for one too many; then nothing has changed.
    func add(_ address: PeerAddress) throws {
        try addresses.withLock { addresses in
            guard !addresses.contains(address) else { return }
            guard addresses.count < Self.most else {
                throw APIError(
                    .invalidValue,
                    "This laptop keeps \(Self.most) addresses already; remove one with 'muster peers remove' first.")
            }
            let more = (addresses + [address]).sorted()
            try write(more)
            addresses = more
        }
    }

    /// Durable when this returns.
    ///
    /// - Returns: whether it was kept.
    /// - Throws: `ConfigurationError`; then nothing has changed.
    func remove(_ address: PeerAddress) throws -> Bool {
        try addresses.withLock { addresses in
            let rest = addresses.filter { $0 != address }
            guard rest.count < addresses.count else { return false }
            try write(rest)
            addresses = rest
            return true
        }
    }

    private func write(_ addresses: [PeerAddress]) throws {
        let text = String(decoding: try JSON.encode(addresses.map(\.description)), as: UTF8.self)
        try files?.write(text + "\n", to: Self.file)
    }
}
