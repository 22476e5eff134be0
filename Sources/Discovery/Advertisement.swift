/// What this laptop says about itself on the network. Anyone on the network can read it, so it holds no names of jobs or
/// customers, nor of the machine (docs/threat-model.md).
package struct Advertisement: Hashable, Sendable {
    /// The service type of RFC 6763 section 7.
    package static let serviceType = "_muster._tcp"

    /// The instance name that is asked for, `muster-` and the short device id; cut to 63 bytes. Another one may be given, see
    /// `DiscoveryEvent.advertised`.
    package let instanceName: String
    /// The TCP port of the listener.
    package let port: UInt16
    /// TXT `v`: the version of the peer protocol.
    package let protocolVersion: Int
    /// TXT `id`: the short device id. A service with this id is ours and is never reported.
    package let id: String
    /// TXT `fleet`: the short fleet hash, possibly empty.
    package let fleet: String

    /// Cuts the instance name at a character to 63 bytes; an empty one becomes `muster`.
    package init(instanceName: String, port: UInt16, protocolVersion: Int, id: String, fleet: String) {
        self.instanceName = InstanceName.fitted(instanceName)
        self.port = port
        self.protocolVersion = protocolVersion
        self.id = id
        self.fleet = fleet
    }

    /// The TXT record in the form of RFC 6763 section 6.1.
    var txtRecord: [UInt8] {
        TXTRecord(entries: [("v", String(protocolVersion)), ("id", id), ("fleet", fleet)]).bytes
    }
}
