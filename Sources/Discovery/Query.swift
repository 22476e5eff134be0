/// The name of one open question to avahi. Never used again, so that a late answer to a closed question is recognised.
struct QueryID: Hashable, Comparable, Sendable {
    let number: UInt64

    static func < (left: QueryID, right: QueryID) -> Bool {
        left.number < right.number
    }
}

/// One lasting question to avahi: it answers again whenever the answer changes, until the question is closed.
enum Query: Hashable, Sendable {
    /// An address record of the name that stands in our service's record.
    case publish(OwnAddress)
    /// DNSServiceRegister under this instance name.
    case advertise(instanceName: String)
    /// DNSServiceBrowse for our service type on all interfaces.
    case browse
    /// DNSServiceResolve on the interface on which the instance was sighted.
    case resolve(instanceName: String, domain: String, interface: UInt32)
    /// DNSServiceQueryRecord for A or AAAA on all interfaces.
    case addresses(host: String, family: AddressFamily)
}

enum AddressFamily: CaseIterable, Hashable, Sendable {
    case ipv4
    case ipv6
}

/// What avahi answers.
enum Answer: Hashable, Sendable {
    /// The question has been put.
    case opened
    /// The question could not be put, or it is dead. The code is one of dns_sd.h; of avahi-common/error.h for `publish`.
    case failed(code: Int32)
    /// To `advertise`: announced under this name, which avahi may have chosen.
    case advertised(instanceName: String)
    /// To `browse`: sighted once more, on this interface.
    case appeared(instanceName: String, domain: String, interface: UInt32)
    /// To `browse`: one sighting on this interface is over.
    case disappeared(instanceName: String, interface: UInt32)
    /// To `resolve`.
    case resolved(host: String, port: UInt16, txtRecord: [UInt8])
    /// To `addresses`; numeric, without scope.
    case addressAdded(String, interface: UInt32, interfaceName: String)
    /// To `addresses`.
    case addressRemoved(String, interface: UInt32)
}

/// What the shell has to do.
enum Directive: Hashable, Sendable {
    case open(QueryID, Query)
    /// Close it if it is open.
    case close(QueryID)
    /// Call `onAlarm` later.
    case wake(Alarm, afterMilliseconds: Int)
    case report(DiscoveryEvent)
}

/// What to try again, or not to put off any longer. An alarm that has become pointless does no harm.
enum Alarm: Hashable, Sendable {
    case reconnect
    case advertise
    case resolve(instanceName: String)
    case addresses(host: String, family: AddressFamily)
    case report(instanceName: String)
}

/// The codes of dns_sd.h that make a difference.
enum ErrorCode {
    static let unknown: Int32 = -65537
    static let nameConflict: Int32 = -65548
    /// kDNSServiceErr_Unsupported, by which CDNSSD says that there is no library to ask.
    static let noLibrary: Int32 = -65544
}
