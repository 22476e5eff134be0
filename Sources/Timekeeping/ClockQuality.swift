/// What a clock says of itself.
package struct ClockQuality: Hashable, Sendable {
    /// How many steps away the server is: 0 is the server itself, 16 says that no server is behind this clock
    /// (RFC 5905 section 7.3).
    package let stratum: UInt8
    /// How far off it may be, in microseconds.
    package let uncertainty: Int64
    /// The latest time that is certainly past, in microseconds since 1970; 0 when none is known.
    package let floor: Int64
    /// False for a clock that goes on from the floor because its own time was before it.
    package let isPlausible: Bool

    /// Takes the parts as they are, also what a peer claims.
    package init(stratum: UInt8, uncertainty: Int64, floor: Int64 = 0, isPlausible: Bool = true) {
        self.stratum = stratum
        self.uncertainty = uncertainty
        self.floor = floor
        self.isPlausible = isPlausible
    }

    /// No server is behind it, and no work that was stamped by it has been shown.
    package static let unsynchronisedStratum: UInt8 = 16
    /// No server is behind it, and work that was stamped by it has been shown: it only moves on.
    package static let shownStratum: UInt8 = 15
    /// What a clock claims that cannot know: some 35 years.
    package static let unknownUncertainty: Int64 = 1 << 50
    /// What a clock says that has heard nobody and knows of no floor.
    package static let unsynchronised = ClockQuality(
        stratum: unsynchronisedStratum, uncertainty: unknownUncertainty)

    /// A server is behind it: a stratum of 0 to 14.
    package var isSynchronised: Bool { stratum < Self.shownStratum }
    /// No server is behind it, and work that was stamped by it has been shown: stratum 15.
    package var isShown: Bool { stratum == Self.shownStratum }

    /// A clock that may be an hour off is no source. It takes a boot of 200 days without any source to become so.
    private static let largestUncertainty: Int64 = 3_600_000_000

    /// Whether it may be followed as one with a server behind it; who follows is one step further away.
    func isUsable(from source: TimeSource) -> Bool {
        let nearest: UInt8 = source == .server ? 0 : 1
        return stratum >= nearest && stratum < Self.shownStratum - 1
            && (0...Self.largestUncertainty).contains(uncertainty)
    }
}

/// Whom the time is asked of.
package enum TimeSource: Hashable, Comparable, Sendable, CustomStringConvertible {
    case server
    /// The device's id as text.
    case peer(String)

    /// `server`, or `peer` and the device's id.
    package var description: String {
        switch self {
        case .server: "server"
        case .peer(let device): "peer \(device)"
        }
    }
}
