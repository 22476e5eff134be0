/// `POST /v1/peers`: dial this address now and go on trying.
package struct AddPeerRequest: Codable, Hashable, Sendable, ClosedBody {
    /// `HOST:PORT`, IPv6 hosts in brackets; without a port 7473 is meant.
    package var address: String
    /// Whether it is dialled after a restart, too, until it is removed; else it is forgotten when the daemon stops.
    package var keep: Bool?

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case address, keep }

    /// What is no address is refused with 422.
    package init(address: String, keep: Bool? = nil) {
        self.address = address
        self.keep = keep
    }
}

/// Where other laptops reach this one.
package struct OwnAddress: Codable, Hashable, Sendable {
    /// What an interface is for, as far as that can be told; in the order in which others try.
    package enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        /// A network in which others may be.
        case network
        /// A tunnel: only who is in it, too, gets here.
        case tunnel
        /// Of this machine's containers and virtual machines.
        case container
    }

    /// `HOST:PORT`, IPv6 hosts in brackets.
    package var address: String
    /// The interface's name.
    package var interface: String
    /// What it is for.
    package var kind: Kind

    package init(address: String, interface: String, kind: Kind) {
        self.address = address
        self.interface = interface
        self.kind = kind
    }
}
