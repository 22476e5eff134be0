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

    /// None once the fleet lets it look only: what it wrote before stands beside those that let it.
    var certificates: [[UInt8]] {
        guard let role = fleet.membership?.own.role, role.mayWrite else { return [] }
        return fleet.certificates(of: key.publicKey)
    }

    func signature(over content: [UInt8]) -> [UInt8] { key.signature(over: content) }
}
