import Authorship
import Identity

/// Signs what this laptop writes, with its key and what its fleet says of that by now.
struct FleetSigner: JournalSigner {
    let publicKey: [UInt8]
    private let key: DeviceKey
    private let fleet: FleetIdentity

    /// Of the laptop's key at this moment.
    init(_ fleet: FleetIdentity) {
        self.fleet = fleet
        key = fleet.key
        publicKey = key.publicKey.bytes
    }

    var certificates: [[UInt8]] { fleet.certificates(of: key.publicKey) }

    func signature(over content: [UInt8]) -> [UInt8] { key.signature(over: content) }
}
