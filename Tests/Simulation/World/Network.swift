import CRDT
import Replication

/// Who reaches whom, and the connections in between: each direction delivers in order, as TCP does, and what is under way
/// when a connection breaks is lost.
struct Network {
    struct Way: Hashable {
        let from: Int
        let to: Int
    }

    /// One end of a connection.
    struct Place: Hashable {
        let connection: Int
        let side: Int
    }

    struct Connection {
        let ends: [(device: Int, link: LinkID)]
        /// Per side: when it sees that the connection is gone.
        var closedAt: [Int64?] = [nil, nil]
        /// Towards each side: when the last message arrives, because a connection keeps its order.
        var lastArrival: [Int64] = [0, 0]
        /// Towards each side: what hangs because the way is cut, to arrive after it is healed.
        var stalled: [[Message]] = [[], []]

        var isOpen: Bool { closedAt[0] == nil && closedAt[1] == nil }
    }

    private(set) var connections: [Int: Connection] = [:]
    private var places: [LinkID: Place] = [:]
    private var opened = 0
    private var nextLink: UInt64 = 1
    private var cutWays: Set<Way> = []
    private var generators: [Way: SeededGenerator] = [:]
    private let seed: UInt64
    private let topology: Plan.Profile.Topology

    init(seed: UInt64, topology: Plan.Profile.Topology) {
        self.seed = seed
        self.topology = topology
    }

    // MARK: Ways

    /// Whether the two could ever talk, on this network.
    func areNeighbours(_ first: Int, _ second: Int) -> Bool {
        switch topology {
        case .everybody: true
        case .chain: abs(first - second) == 1
        case .star: first == 0 || second == 0
        }
    }

    func isCut(_ from: Int, _ to: Int) -> Bool { cutWays.contains(Way(from: from, to: to)) }

    func canDial(_ first: Int, _ second: Int) -> Bool {
        areNeighbours(first, second) && !isCut(first, second) && !isCut(second, first)
    }

    /// - Returns: whether it was open.
    mutating func cut(_ from: Int, _ to: Int) -> Bool { cutWays.insert(Way(from: from, to: to)).inserted }

    /// - Returns: whether it was cut.
    mutating func heal(_ from: Int, _ to: Int) -> Bool { cutWays.remove(Way(from: from, to: to)) != nil }

    /// Each way has its own luck, so that dropping a step elsewhere changes little here.
    mutating func draw<Value>(_ from: Int, _ to: Int, _ body: (inout SeededGenerator) -> Value) -> Value {
        let way = Way(from: from, to: to)
        let fresh = SeededGenerator(seed: seed ^ UInt64(from) << 40 ^ UInt64(to) << 48 ^ 0xabcd)
        return body(&generators[way, default: fresh])
    }

    // MARK: Connections

    mutating func connect(_ dialler: Int, _ other: Int) -> (number: Int, Connection) {
        let links = [LinkID(number: nextLink), LinkID(number: nextLink + 1)]
        nextLink += 2
        opened += 1
        let connection = Connection(ends: [(dialler, links[0]), (other, links[1])])
        connections[opened] = connection
        for side in 0...1 { places[links[side]] = Place(connection: opened, side: side) }
        return (opened, connection)
    }

    func place(of link: LinkID) -> Place? { places[link] }

    /// The connections of two devices that stand, the oldest first.
    func open(between first: Int, _ second: Int) -> [Int] {
        connections.filter { _, connection in
            connection.isOpen
                && (connection.ends[0].device, connection.ends[1].device) == (first, second)
                || connection.isOpen && (connection.ends[0].device, connection.ends[1].device) == (second, first)
        }.keys.sorted()
    }

    func open(of device: Int) -> [Int] {
        connections.filter { $0.value.isOpen && $0.value.ends.contains { $0.device == device } }.keys.sorted()
    }

    mutating func stall(_ message: Message, towards place: Place) {
        connections[place.connection]?.stalled[place.side].append(message)
    }

    mutating func takeStalled(towards place: Place) -> [Message] {
        guard let messages = connections[place.connection]?.stalled[place.side] else { return [] }
        connections[place.connection]?.stalled[place.side] = []
        return messages
    }

    /// The time at which a message that wants to arrive at `time` does.
    mutating func arrival(at time: Int64, towards place: Place) -> Int64 {
        let arrival = max(time, connections[place.connection]?.lastArrival[place.side] ?? 0)
        connections[place.connection]?.lastArrival[place.side] = arrival
        return arrival
    }

    /// - Returns: the ends that are to see it, and when.
    mutating func close(_ number: Int, at times: [Int64]) -> [(place: Place, time: Int64)] {
        guard let connection = connections[number], connection.isOpen else { return [] }
        connections[number]?.closedAt = times
        return (0...1).map { (Place(connection: number, side: $0), times[$0]) }
    }

    /// Forgets connections that both ends have long seen closed.
    mutating func forgetClosed(before time: Int64) {
        for (number, connection) in connections
        where connection.closedAt.allSatisfy({ $0.map { $0 < time } ?? false }) {
            for end in connection.ends { places[end.link] = nil }
            connections[number] = nil
        }
    }
}
