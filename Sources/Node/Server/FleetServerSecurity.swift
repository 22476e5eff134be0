import Engine
import FleetTLS
import Identity
import Logging
import ServerChannel

/// What the fleet says of its server, and what this laptop and the server tell each other of the fleet.
struct FleetServerSecurity: ServerSecurity {
    let fleet: FleetIdentity
    let replicator: Replicator
    let logger: Logger

    var credentials: FleetCredentials? { fleet.credentials }

    var silence: String {
        if let damage = fleet.damage { return "the gateway does not start: \(damage.finding)" }
        return fleet.isRevoked
            ? "this laptop was revoked; let it leave the fleet and join again if that is a mistake"
            : "this laptop belongs to no fleet yet"
    }

    func admitServer(_ chain: [[UInt8]]) async throws(NotTheServer) { try await fleet.admitServer(chain) }

    var revocationNumber: String { fleet.revocations.fingerprintText }

    var revocationEntries: [[UInt8]] { fleet.revocationEntries }

    func learnRevocations(fromServer entries: [[UInt8]]) async {
        // One by one: a server that has been of another fleet may have others among them.
        for entry in entries {
            do {
                if let news = try await fleet.learnRevocations([entry]) { await replicator.revoked(news) }
            } catch {
                logger.warning("the server's word of a revocation is refused", metadata: ["reason": "\(error)"])
            }
        }
    }
}

extension FleetIdentity {
    /// Decides on what answers at the server's address.
    func admitServer(_ chain: [[UInt8]]) async throws(NotTheServer) {
        guard let trust = membership?.trust else { throw NotTheServer(Fault.notEnrolled.sentence) }
        do throws(FleetTrust.Refusal) {
            let member = try await trust.judge(chain, now: now, revocations: revocations)
            guard !member.role.isLaptops else { throw .notAllowed }
        } catch {
            throw NotTheServer(Self.sentence(ofServer: error))
        }
    }

    /// What a person can do about it, who is at a laptop and not at the server.
    private static func sentence(ofServer refusal: FleetTrust.Refusal) -> String {
        switch refusal {
        case .length, .unreadable, .newcomer, .otherFleet, .noLaptop:
            "nobody of this fleet; is there a login page, or does the office's server belong to another fleet?"
        case .notAllowed: "a laptop that says it is the server; check the server's address, and tell the office."
        case .revoked: "the server's key was revoked; tell the office."
        case .ranOut: "the server's certificate ran out; tell the office."
        case .tooYoung: "the server's certificate does not hold yet; compare the clocks."
        }
    }
}
