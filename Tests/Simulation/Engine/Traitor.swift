import Authorship
import CRDT
import Engine
import Replication
import Timekeeping
import Transport

/// One who was let in like any laptop and says anything well-formed, true or not: only what it says of the time is true.
///
/// It is no `Laptop`: it has no store and keeps no rules. What it writes under its own name is real work, and the checker is
/// told of it.
final class Traitor: TransportHandler, @unchecked Sendable {
    /// The laptop at the other end of a connection.
    struct Peer {
        let laptop: Int
        let device: DeviceID
        /// Which start of its daemon.
        let start: ObjectIdentifier
        var isReady = false
        /// What it said to hold, by journal.
        var heads: [HeardRuns.Name: JournalHead] = [:]
        /// Those that it was told part, to see whether it takes a part of one as the whole.
        var plots: Set<HeardRuns.Name> = []
        var goodbye = ""
    }

    /// Its place in the network.
    let index: Int
    let network: MemoryNetwork
    let signer: TestSigner
    let author: JournalAuthor
    let jobs: [JobID]
    var generator: SeededGenerator
    var heard = HeardRuns()
    /// Nil where every job is everybody's.
    var membership: Membership?
    /// What it has heard of who is on jobs.
    var words: [Assignment] = []
    var links: [LinkID: Peer] = [:]
    var journals: [JobID: OwnJournal] = [:]
    private(set) var told: [Treason: Int] = [:]
    private let processor: Processor
    private let quality: ClockQuality
    let staysToTheEnd: Bool
    private var dialling: Set<Int> = []
    private var isNews = false
    private var isThere = false
    /// How often it has come.
    private var visits = 0
    /// Everybody is to agree in the end: it writes nothing more and lies less often.
    var isCrewDone = false
    /// It lies only when it is told to.
    var isQuiet = false
    /// Tells which start of a laptop's daemon runs.
    var start: (Int) -> ObjectIdentifier
    /// Told what it writes under its own name, and what that follows.
    var wrote: (JournalSegment, JobID, JournalHead) -> Void = { _, _, _ in }
    /// Told that a laptop has closed a connection, and why.
    var wasLeft: (Peer) async -> Void = { _ in }

    var wire: MemoryLinks { MemoryLinks(network: network, laptop: index) }
    var scheduler: Scheduler { network.scheduler }
    var device: DeviceID { signer.device }

    init(
        _ index: Int, seed: UInt64, network: MemoryNetwork, jobs: [JobID], start: @escaping (Int) -> ObjectIdentifier
    ) {
        (self.index, self.network, self.jobs, self.start) = (index, network, jobs, start)
        generator = SeededGenerator(seed: seed ^ 0x7_2a_17)
        signer = TestSigner(generator.next())
        guard let author = signer.author(nonce: UInt128(generator.next())) else { preconditionFailure("a key is one") }
        self.author = author
        processor = Processor(scheduler: network.scheduler)
        staysToTheEnd = generator.oneIn(2)
        let knowsTime = generator.oneIn(2)
        quality =
            knowsTime
            ? ClockQuality(
                stratum: UInt8.random(in: 1...3, using: &generator),
                uncertainty: Int64.random(in: 100...50_000, using: &generator))
            : .unsynchronised
    }

    // MARK: Coming and going

    func come() {
        guard !isThere else { return }
        isThere = true
        visits += 1
        let device = device
        network.attach(self, of: index, on: processor) { device }
        Task(executorPreference: processor) { await self.plot() }
    }

    func leave() {
        isThere = false
        links = [:]
        dialling = []
        network.detach(index)
    }

    private func plot() async {
        let visit = visits
        while isThere, visit == visits {
            let longest: Int64 = isCrewDone ? 8_000_000 : generator.pick([200_000, 1_500_000])
            await scheduler.pass(microseconds: Int64.random(in: 5_000...longest, using: &generator))
            guard isThere, visit == visits else { return }
            let ready = self.ready
            let missing = network.neighbours(of: index).filter { laptop in
                !dialling.contains(laptop) && !links.values.contains { $0.laptop == laptop }
            }
            if !missing.isEmpty, ready.isEmpty || generator.oneIn(2) { dial(generator.pick(missing)) }
            // Who sleeps hears nothing: no words are heaped up for them.
            guard isNews, !isQuiet, !ready.isEmpty else { continue }
            isNews = false
            tell(generator.pick(treasons), on: generator.pick(ready))
        }
    }

    private func dial(_ laptop: Int) {
        dialling.insert(laptop)
        wire.dial(MemoryNetwork.address(of: laptop))
    }

    /// Connections on which both ends have said that they may show their work.
    var ready: [LinkID] { links.filter(\.value.isReady).keys.sorted() }

    /// Those that it may well know: it has heard of them, or writes in them.
    var jobsHeardOf: Set<JobID> { heard.jobs.union(journals.keys) }

    /// Where nobody says who is on a job it does not either.
    var treasons: [Treason] { membership == nil ? Treason.aboutJournals : Treason.allCases }

    /// Something was told that is not so, or not right.
    func count(_ treason: Treason) { told[treason, default: 0] += 1 }

    // MARK: What a transport tells

    func linkOpened(_ link: LinkID, with device: DeviceID, remote: String, dialled: PeerAddress?) async {
        guard isThere, let laptop = dialled.map({ $0.port - 1 }) else { return }
        dialling.remove(laptop)
        links[link] = Peer(laptop: laptop, device: device, start: start(laptop))
        let hello = Hello(
            minimumVersion: ProtocolLimits.minimumVersion, maximumVersion: ProtocolLimits.version,
            device: self.device, instance: generator.next(), name: "traitor")
        wire.send(.hello(hello), on: link)
    }

    func received(_ message: Message, on link: LinkID) async {
        guard links[link] != nil else { return }
        isNews = true
        switch message {
        case .hello: wire.send(.ready, on: link)
        case .ready: begin(on: link)
        case .ping(let number):
            let time = VirtualClock.epoch + scheduler.now
            wire.send(.pong(number, received: time, answered: time, quality), on: link)
        case .goodbye(let reason): links[link]?.goodbye = reason
        default: answer(message, on: link)
        }
    }

    /// Asks for all that there is, to have something to tell others.
    private func begin(on link: LinkID) {
        links[link]?.isReady = true
        if generator.oneIn(2) { wire.send(.fingerprint(generator.next()), on: link) }
        for job in jobs { wire.send(.vectorRequest(job: job), on: link) }
    }

    func linkClosed(_ link: LinkID, reason: String) async {
        guard let peer = links.removeValue(forKey: link) else { return }
        await wasLeft(peer)
    }

    func dialFailed(_ address: PeerAddress, _ failure: DialFailure, reason: String) async {
        dialling.remove(address.port - 1)
    }
    func backlogChanged(_ link: LinkID, congested: Bool) async {}
    func connectionRefused(remote: String, reason: String) async {}
}
