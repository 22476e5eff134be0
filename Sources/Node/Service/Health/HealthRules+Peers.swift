import CRDT
import LocalAPI
import Replication

/// A laptop that is known and not connected, with what came of each of its addresses.
struct UnreachedPeer: Hashable {
    /// What people call it.
    let name: String
    /// It is announced now; else somebody has named its address.
    let isAnnounced: Bool
    /// Why it was not reached, the address that was tried last.
    let failure: DialFailure
    let address: PeerAddress
}

/// What is seen of others from here, and of this laptop from there.
struct Neighbourhood {
    /// For how long discovery has looked, in seconds; nil while it does not.
    var searchedSeconds: Int64?
    /// Laptops that it finds.
    var found = 0
    /// The names of connected laptops that have connected to this one.
    var incoming: [String] = []
    /// How many are connected.
    var connected = 0
}

/// What is told of other laptops.
extension HealthRules {
    /// Of more laptops the number is told.
    private static let named = 3
    /// So long a laptop may take to be found: it takes two seconds where nothing is lost.
    static let searchSeconds: Int64 = 30

    /// - Parameter connected: how many laptops are.
    static func reach(_ peers: [UnreachedPeer], connected: Int) -> HealthCheck {
        guard !peers.isEmpty else {
            return connected == 0
                ? .unknown(.reach, "no other laptop is known", remedy: "start one on this network")
                : .ok(.reach, "every laptop that is known is connected (\(connected))")
        }
        var findings = peers.prefix(named).map { "\($0.name) at \($0.address): \($0.failure.words)" }
        if peers.count > named { findings.append("\(peers.count - named) more") }
        let finding = "not reached: " + findings.joined(separator: "; ")
        var remedies: [String] = []
        for failure in peers.map(\.failure) where !remedies.contains(failure.remedy) { remedies.append(failure.remedy) }
        let remedy = remedies.prefix(named).joined(separator: "; ")
        // Who is announced and cannot be reached by the only one who is there is not just asleep, as far as can be told.
        return connected == 0 && peers.contains(where: \.isAnnounced)
            ? .fail(.reach, finding, remedy: remedy) : .warn(.reach, finding, remedy: remedy)
    }

    static func isolation(_ seen: Neighbourhood) -> HealthCheck {
        guard let searched = seen.searchedSeconds else {
            return .unknown(.isolation, "nobody is looked for", remedy: "see what is said of discovery")
        }
        if seen.found > 0 { return .ok(.isolation, "others are found (\(seen.found))") }
        guard searched >= searchSeconds else {
            return .unknown(.isolation, "others have just begun to be looked for", remedy: "ask again in a minute")
        }
        guard !seen.incoming.isEmpty else {
            return .unknown(
                .isolation, "no other laptop is found: there is none, or this network keeps laptops apart",
                remedy: "start one on this network; if neither finds the other, take another network")
        }
        let others = seen.incoming.prefix(named).joined(separator: ", ")
        return .warn(
            .isolation,
            "nobody is found, while others find this laptop (\(others)): what is sent to all does not arrive here",
            remedy:
                "let this laptop's firewall pass mDNS (ufw allow 5353/udp), switch client isolation off at the access "
                + "point, or name laptops with 'muster peers add HOST:PORT'")
    }

    /// - Parameter peers: those that were turned away for what they speak.
    static func versions(_ peers: [Hello]) -> HealthCheck {
        let (oldest, newest) = (ProtocolLimits.minimumVersion, ProtocolLimits.version)
        guard !peers.isEmpty else { return .ok(.versions, "nobody was turned away for the version of its protocol") }
        func range(_ from: UInt32, _ to: UInt32) -> String { from == to ? "\(from)" : "\(from) to \(to)" }
        var findings = peers.prefix(named).map {
            "\($0.name) (\($0.device.short)) speaks version \(range($0.minimumVersion, $0.maximumVersion))"
        }
        if peers.count > named { findings.append("\(peers.count - named) more") }
        let older = peers.filter { $0.maximumVersion < oldest }.map(\.name)
        let remedies = [
            older.count < peers.count ? "update Muster on this laptop" : nil,
            older.isEmpty ? nil : "update Muster on \(older.prefix(named).joined(separator: ", "))",
        ]
        return .fail(
            .versions,
            findings.joined(separator: "; ") + " of the protocol, this laptop version \(range(oldest, newest))",
            remedy: remedies.compactMap(\.self).joined(separator: "; ") + "; nothing is lost meanwhile")
    }
}

extension DialFailure {
    /// What came of it, as the end of a sentence.
    fileprivate var words: String {
        switch self {
        case .refused: "it refuses the connection"
        case .silent: "no answer"
        case .noWay: "there is no way to it"
        case .unknownName: "its name leads nowhere"
        case .notShown: "what answers does not show to be of this fleet"
        case .other: "no connection could be made"
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .refused: "see that musterd runs there, and that its firewall lets the port pass (ufw allow 7473/tcp)"
        case .silent:
            "if it is awake, let its firewall pass the port (ufw allow 7473/tcp), and see that the access point does not keep "
                + "laptops apart (client isolation)"
        case .noWay: "see that both are on one network"
        case .unknownName: "check the name, or give the address"
        case .notShown: "see with 'muster fleet show' on both that they are in one fleet"
        case .other: "see the daemon's log (journalctl -u musterd)"
        }
    }
}
