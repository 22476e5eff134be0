import Testing

@testable import Discovery

/// A pretended avahi: carries a machine's directives out in memory, and rejects by name those that make no sense.
struct Avahi {
    private(set) var machine: DiscoveryMachine
    private(set) var events: [DiscoveryEvent] = []
    private(set) var open: [QueryID: Query] = [:]
    private(set) var alarms: [(alarm: Alarm, milliseconds: Int)] = []
    /// What the next questions are refused with, nil when avahi is there.
    var refusal: Int32?
    /// The instance names that other programs on this laptop hold.
    var takenNames: Set<String> = []
    private var everOpened: Set<QueryID> = []

    /// One that only looks, and announces nothing.
    static var looking: Avahi { Avahi(machine: DiscoveryMachine(advertisement: nil)) }

    private init(machine: DiscoveryMachine) {
        self.machine = machine
    }

    init(id: String = "ours", instanceName: String = "crew") {
        machine = DiscoveryMachine(
            advertisement: Advertisement(
                instanceName: instanceName, port: 7447, protocolVersion: 1, id: id, fleet: "f1"))
    }

    /// This laptop has these addresses, and no others.
    mutating func network(has addresses: OwnAddress...) {
        carryOut(machine.onOwnAddresses(Set(addresses)))
    }

    mutating func start() {
        carryOut(machine.onStart())
    }

    /// Lets the oldest alarm go off, and returns after how long.
    @discardableResult
    mutating func fireAlarm() throws -> Int {
        try #require(!alarms.isEmpty, "nobody wants to be woken")
        let (alarm, milliseconds) = alarms.removeFirst()
        carryOut(machine.onAlarm(alarm))
        return milliseconds
    }

    /// Answers the open question that `isAsked` describes.
    mutating func answer(_ answer: Answer, where isAsked: (Query) -> Bool) throws {
        let id = try #require(open.filter { isAsked($0.value) }.keys.min(), "no such question is open")
        carryOut(machine.onAnswer(answer, to: id))
    }

    /// An answer that was on its way when its question was closed.
    mutating func answerLate(_ answer: Answer, to id: QueryID) {
        carryOut(machine.onAnswer(answer, to: id))
    }

    mutating func appear(_ name: String, on interface: UInt32 = 2) throws {
        try answer(.appeared(instanceName: name, domain: "local.", interface: interface)) { $0 == .browse }
    }

    mutating func disappear(_ name: String, on interface: UInt32 = 2) throws {
        try answer(.disappeared(instanceName: name, interface: interface)) { $0 == .browse }
    }

    mutating func resolve(_ name: String, id: String, host: String = "ben.local.", port: UInt16 = 1) throws {
        let txt = TXTRecord(entries: [("v", "1"), ("id", id), ("fleet", "f1")])
        try answer(.resolved(host: host, port: port, txtRecord: txt.bytes)) {
            if case .resolve(name, _, _) = $0 { true } else { false }
        }
    }

    mutating func addAddress(
        _ address: String, to host: String = "ben.local.", interface: UInt32 = 2, named name: String = "eth0"
    ) throws {
        let family: AddressFamily = address.contains(":") ? .ipv6 : .ipv4
        try answer(.addressAdded(address, interface: interface, interfaceName: name)) {
            $0 == .addresses(host: host, family: family)
        }
    }

    mutating func removeAddress(_ address: String, from host: String = "ben.local.", interface: UInt32 = 2) throws {
        let family: AddressFamily = address.contains(":") ? .ipv6 : .ipv4
        try answer(.addressRemoved(address, interface: interface)) { $0 == .addresses(host: host, family: family) }
    }

    /// The events since the last call.
    mutating func newEvents() -> [DiscoveryEvent] {
        defer { events = [] }
        return events
    }

    private mutating func carryOut(_ directives: [Directive]) {
        var pending = directives[...]
        while let directive = pending.popFirst() {
            switch directive {
            case .open(let id, let query):
                #expect(everOpened.insert(id).inserted, "a question's name was used twice: \(query)")
                #expect(!open.values.contains(query), "the same question is open twice: \(query)")
                open[id] = query
                if let code = refusal(of: query) {
                    open[id] = nil
                    pending += machine.onAnswer(.failed(code: code), to: id)
                } else {
                    pending += machine.onAnswer(.opened, to: id)
                }
            case .close(let id):
                #expect(everOpened.contains(id), "a question was closed that never was open")
                open[id] = nil
            case .wake(let alarm, let milliseconds):
                alarms.append((alarm, milliseconds))
            case .report(let event):
                events.append(event)
            }
        }
    }

    private func refusal(of query: Query) -> Int32? {
        if case .advertise(let name) = query, takenNames.contains(name) { return ErrorCode.nameConflict }
        return refusal
    }
}

extension DiscoveredService {
    static func ben(at addresses: [String], port: UInt16 = 1, id: String = "bbbb", host: String = "ben.local.") -> Self
    {
        DiscoveredService(
            instanceName: "ben", id: id, fleet: "f1", protocolVersion: 1, hostName: host, addresses: addresses,
            port: port)
    }
}
