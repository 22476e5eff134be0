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
    /// Attempts whose record is on its way to the disk: a restart finds it there or not.
    var unwritten: [MutationToken: OutboxRecord] = [:]
    var machine = OutboxMachine(kinds: .tested)
    var underWay: [MutationToken: Int] = [:]
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

    func elapsed(_ now: UInt64) -> UInt64 { now - booted }
}
