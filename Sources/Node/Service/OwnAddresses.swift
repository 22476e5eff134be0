import Checkup
import LocalAPI
import Replication
import Transport

/// Where others reach this laptop: what is worth trying first stands first.
enum OwnAddresses {
    /// - Parameter host: where the daemon listens, as in its settings.
    static func all(listeningAt host: String, port: Int) -> [OwnAddress] {
        ordered(NetworkInterface.all, port: port) { address in
            switch host {
            case TransportConfiguration.everyHost, "::": true
            case "0.0.0.0": !address.contains(":")
            default: address == host
            }
        }
    }

    /// Networks before tunnels before containers; of one kind IPv4 first, which people read to each other.
    static func ordered(
        _ interfaces: [NetworkInterface], port: Int, where isHeard: (String) -> Bool = { _ in true }
    ) -> [OwnAddress] {
        OwnAddress.Kind.allCases.flatMap { kind in
            let ofKind = interfaces.filter { OwnAddress.Kind($0.kind) == kind }.sorted { $0.name < $1.name }
            return [false, true].flatMap { isSixth in
                ofKind.flatMap { interface in
                    interface.addresses.filter { isHeard($0) && $0.contains(":") == isSixth }.map { address in
                        OwnAddress(
                            address: "\(PeerAddress(host: address, port: port))", interface: interface.name,
                            kind: kind)
                    }
                }
            }
        }
    }
}

extension OwnAddress.Kind {
    fileprivate init(_ kind: NetworkInterface.Kind) {
        switch kind {
        case .network: self = .network
        case .tunnel: self = .tunnel
        case .container: self = .container
        }
    }
}
