import LocalAPI

/// What helps a laptop that has found nobody.
enum Company {
    /// The next step, as a sentence goes on behind a colon; short, since it is not broken for a pipe.
    ///
    /// - Parameters:
    ///   - fleet: nil where it is not known.
    ///   - discovery: nil where it is not known.
    static func nextStep(_ fleet: FleetStatus?, _ discovery: DiscoveryStatus?) -> String {
        if let fleet, fleet.isRevoked { return "this laptop was revoked; see 'muster doctor'" }
        if let fleet, fleet.fleetID == nil { return "join a fleet with 'muster fleet join CODE'" }
        if let discovery, discovery.state != .available {
            let state = discovery.state == .off ? "switched off" : "not available"
            return "discovery is \(state); see 'muster doctor'"
        }
        return "start one on this network; see 'muster doctor'"
    }
}
