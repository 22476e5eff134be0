/// What the owner of a certificate may do in its fleet.
package enum FleetRole: String, Hashable, Sendable, CaseIterable, Comparable {
    /// Sees, and changes nothing.
    case reader
    case member
    /// Leads a crew: may invite, if it is an issuer too.
    case lead
    /// The company's office: assigns jobs, sees all of them.
    case office
    /// No laptop: the company's server, which alone says what stands in channels.
    case server
    /// No laptop: stands before the server, and passes on what laptops say to it.
    case proxy

    /// Whether it is for laptops, which alone write journals of their own and meet each other.
    package var isLaptops: Bool { self != .server && self != .proxy }

    /// Laptops are of one kind, whatever they may do; a server and a proxy are each of their own. Nobody's kind changes.
    package func isSameKind(as other: FleetRole) -> Bool { isLaptops ? other.isLaptops : self == other }

    /// Whether its requests to the server count: a reader's do not, nor a server's.
    package var mayAsk: Bool { isLaptops && self != .reader }

    /// Who may do less comes first: nobody makes anybody who may do more than they. Office, server and proxy are equals.
    package static func < (one: FleetRole, other: FleetRole) -> Bool { one.rank < other.rank }

    private var rank: Int {
        switch self {
        case .reader: 0
        case .member: 1
        case .lead: 2
        case .office, .server, .proxy: 3
        }
    }
}
