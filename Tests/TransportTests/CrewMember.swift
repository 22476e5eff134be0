import CRDT
import FleetTLS
import Identity
import Simulation
import Transport

/// A laptop of a fleet, on the day on which it was let in.
struct CrewMember: LinkSecurity {
    // swift-format-ignore: NeverUseForceTry
    static let fleet = try! TestFleet()
    // swift-format-ignore: NeverUseForceTry
    static let otherFleet = try! TestFleet()

    let fleet: TestFleet
    let key = DeviceKey()
    let credentials: FleetCredentials?

    init(of fleet: TestFleet = Self.fleet) throws {
        self.fleet = fleet
        credentials = FleetCredentials(certificates: try fleet.chain(key), key: key.pem)
    }

    func admit(_ chain: [[UInt8]]) async throws(LinkRefusal) -> DeviceID {
        do throws(FleetTrust.Refusal) {
            return try await fleet.trust.judge(
                chain, now: TimeBounds(TestFleet.today, within: 0),
                revocations: RevocationLog()
            ).key.device
        } catch {
            throw LinkRefusal(error.sentence)
        }
    }
}

/// A laptop that belongs to no fleet.
struct Outsider: LinkSecurity {
    let credentials: FleetCredentials? = nil

    func admit(_ chain: [[UInt8]]) async throws(LinkRefusal) -> DeviceID { throw LinkRefusal("no fleet") }
}
