import LocalAPI

/// What helps a laptop that has found nobody.
enum Company {
    /// The next step, as a sentence goes on behind a colon.
    ///
    /// - Parameters:
    ///   - fleet: nil where it is not known.
    ///   - discovery: nil where it is not known.
    static func nextStep(_ fleet: FleetStatus?, _ discovery: DiscoveryStatus?) -> String {
        if let fleet, fleet.isRevoked { return "this laptop was revoked, and 'muster doctor' says what to do" }
        if let fleet, fleet.fleetID == nil {
            return
                "this laptop is in no fleet; join with 'muster fleet join CODE', by a code that 'muster fleet invite' prints "
                + "on a lead's or the office's laptop"
        }
        if let discovery, discovery.state != .available {
            return
                "discovery is \(discovery.state == .off ? "switched off" : "not available"), and 'muster doctor' says what to do"
        }
        return "start another laptop of the fleet on the same network; 'muster doctor' looks at what this one needs"
    }
}
