import CRDT
import Outbox

/// A laptop: what is durable on it, and the daemon that may end at any moment.
struct OutboxDevice {
    let number: Int
    var incarnation = 0
    /// True time of the boot: the machine's clock counts from there.
    var booted: UInt64 = 0
    var isRouteUp = true

    // Durable.
    var known: [MutationToken: OutboxEntry] = [:]
    var withdrawn: Set<MutationToken> = []
    var published: [JobID: PublishedJob] = [:]
    var records: [MutationToken: OutboxRecord] = [:]
    var standing = OutboxStanding()
    var lastOfLane: [String: MutationToken] = [:]
    var sequence: UInt64 = 0

    // The daemon's.
    /// Exchanges whose records are on their way to the disk: a restart finds all of them there, or none.
    var unwritten: [OutboxMachine.ExchangeNumber: [OutboxRecord]] = [:]
    var machine = OutboxMachine(kinds: .tested)
    var underWay: [OutboxMachine.ExchangeNumber: [MutationToken]] = [:]
    var timerAt: UInt64?

    // What the checker remembers, in true time.
    /// The server has asked this device for silence until then.
    var quietUntil: UInt64 = 0
    var told: Set<MutationToken> = []
    var tried: Set<MutationToken> = []

    init(number: Int) {
        self.number = number
    }

    var replica: ReplicaID { ReplicaID(UInt128(number + 1)) }

    /// What is said of a request later takes the place of what is not on the disk yet.
    mutating func leaveUnwritten(_ token: MutationToken) {
        unwritten = unwritten.mapValues { $0.filter { $0.token != token } }.filter { !$0.value.isEmpty }
    }

    func elapsed(_ now: UInt64) -> UInt64 { now - booted }
}
