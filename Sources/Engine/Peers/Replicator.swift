package import Authorship
package import CRDT
package import CoreMetrics
package import Logging
package import Replication
package import Storage
import Synchronization
import Timekeeping
import Transport

/// Carries out what the mesh decides: between the store, the transport and the people who watch.
///
/// One actor, so that the mesh sees one thing after another. A link whose pieces wait for the disk in large numbers is
/// not read on until some are durable, which is what keeps a fast peer from filling the memory.
package actor Replicator: TransportHandler {
    var mesh: Mesh
    let store: Store
    let clock: ClockService
    nonisolated let machine: any Machine
    let observer: any ReplicationObserver
    private(set) var peersChanged: (@Sendable () -> Void)?
    let logger: Logger
    let renewKey: @Sendable () throws -> any JournalSigner
    let fleet: (any FleetRegister)?
    let assignments: (any AssignmentRegister)?
    let counters: ReplicationCounters
    var links: (any PeerLinks)?
    var timer = DeadlineTimer()
    var remotes: [LinkID: Remote] = [:]
    var plan = DialPlan()
    var dialTimer = DeadlineTimer()
    var reports = ReportCollector()
    /// Own work that is durable and of which the mesh has not been told, in the order of its commits.
    nonisolated let pendingCommits = Mutex<[CommittedNote]>([])
    var ingestQueue = IngestQueue()
    /// Links that are not read on until some of what they brought is durable.
    var heldReaders: [LinkID: CheckedContinuation<Void, Never>] = [:]
    var strangers = RepeatedEvents<StrangerEvent>()
    var strangersTimer = DeadlineTimer()
    /// Links that may carry this device's work away.
    var exposedLinks: Set<LinkID> = []
    /// How many files are being written that may carry it away.
    var carriers = 0
    /// The files that are being taken in, and how many there were.
    var carried: [LinkID: Carried] = [:]
    var carriedFiles: UInt64 = 0
    /// The server may have it.
    var isServerExposed = false
    var refused = RefusedWorkLog()
    var unfit = UnfitVersions()
    /// Who has gone while what they brought waits for the disk.
    var departed: [LinkID: Hello] = [:]
    /// The clock steps, and the mesh has not been told of that; and who waits until it has.
    var isStepToTell = false
    var waitingForStep: [CheckedContinuation<Void, Never>] = []
    /// When it was last noted what the peers hold, and the notes that are being made.
    var lastNoted: UInt64
    var noting: Task<Void, Never>?

    /// The other end of a connection.
    package struct Remote: Sendable {
        /// As people read it.
        package let address: String
        /// The address that was dialled; nil for one that came in.
        package let dialled: PeerAddress?
        var isEstablished = false
        /// Who it is, once that has happened.
        var peer: Hello?
        /// The authors that it was told.
        var told = ToldAuthors()
        /// The authors that it has told of.
        var heard = HeardAuthors()
    }

    /// What a replicator works with.
    package struct Parts: Sendable {
        let store: Store
        let clock: ClockService
        let machine: any Machine
        let observer: any ReplicationObserver
        let logger: Logger
        let renewKey: @Sendable () throws -> any JournalSigner
        let fleet: (any FleetRegister)?
        let assignments: (any AssignmentRegister)?
        let metrics: any MetricsFactory

        /// - Parameters:
        ///   - renewKey: gives this laptop another key, and so another name.
        ///   - fleet: nil where nobody is shut out.
        ///   - assignments: nil where every job is everybody's.
        ///   - metrics: where changes and connections are counted.
        package init(
            store: Store, clock: ClockService, machine: any Machine, observer: any ReplicationObserver, logger: Logger,
            renewKey: @escaping @Sendable () throws -> any JournalSigner, fleet: (any FleetRegister)? = nil,
            assignments: (any AssignmentRegister)? = nil, metrics: any MetricsFactory = NOOPMetricsHandler.instance
        ) {
            self.metrics = metrics
            self.fleet = fleet
            self.assignments = assignments
            self.renewKey = renewKey
            self.store = store
            self.clock = clock
            self.machine = machine
            self.observer = observer
            self.logger = logger
        }
    }

    /// - Parameters:
    ///   - holdings: what the store held when it was opened.
    ///   - hostName: what this laptop is called, at most `ProtocolLimits.nameBytes` long.
    package init(_ parts: Parts, holdings: KnownHoldings, hostName: String) {
        store = parts.store
        clock = parts.clock
        machine = parts.machine
        observer = parts.observer
        logger = parts.logger
        renewKey = parts.renewKey
        fleet = parts.fleet
        assignments = parts.assignments
        counters = ReplicationCounters(parts.metrics)
        lastNoted = machine.elapsedMilliseconds
        let identity = store.identity
        mesh = Mesh(
            device: identity.device, replica: identity.replica, instance: machine.random(),
            name: hostName, jobs: holdings.jobs,
            removals: holdings.removals, rosters: parts.assignments?.rosters ?? [],
            revocations: parts.fleet?.revocationFingerprint ?? 0)
        mesh.authors = holdings.authors
    }

    /// From now on messages go out, addresses are dialled, and everybody hears of what this store commits.
    package func attach(_ links: any PeerLinks) {
        self.links = links
        store.whenCommitted { [weak self] in self?.committed($0) }
        store.whenPassedOver { [logger, assignments] note in
            // The office sees every job, and ends it over a connection.
            if let end = note as? RefusedEnd, assignments?.access(of: end.device).seesAllJobs ?? false { return }
            logger.warning("\(type(of: note).sentence)", metadata: note.details.mapValues { "\($0)" })
        }
    }

    var now: UInt64 { machine.elapsedMilliseconds }

    var receiveTime: ReceiveTime { clock.now }

    // MARK: Local edits

    /// A commit of this store is durable: everybody will hear of it. The store calls this on the thread that writes.
    package nonisolated func committed(_ note: CommittedNote) {
        let isFirst = pendingCommits.withLock { pendingCommits in
            pendingCommits.append(note)
            return pendingCommits.count == 1
        }
        if isFirst { machine.begin { await self.tellCommitted() } }
    }

    /// Tells everybody of what is durable by now. What rests on an answer of the store that came later has to wait for this.
    package func tellCommitted() async {
        while let note = pendingCommits.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            let commit = note.commit
            counters.wrote(commit.segment)
            perform(mesh.onCommitted(commit.segment, job: commit.job, now: now))
            advanced(
                commit.job, applied: commit.applied, concernsOutbox: commit.hasStatements && !note.isKnownToOutbox)
        }
    }

    func advanced(_ job: JobID, applied: [AppliedChange] = [], concernsOutbox: Bool = true) {
        observer.jobAdvanced(
            JobAdvance(
                job: job, vector: mesh.vector(of: job), isRemoved: mesh.removal(of: job) != nil, applied: applied,
                concernsOutbox: concernsOutbox))
    }

    /// Has somebody told whenever a device has come or gone; it must not wait.
    package func onPeersChange(_ listener: @escaping @Sendable () -> Void) { peersChanged = listener }

    // MARK: Transport

    package func linkOpened(_ link: LinkID, with device: DeviceID, remote: String, dialled: PeerAddress?) async {
        remotes[link] = Remote(address: remote, dialled: dialled)
        await noteFleet()
        mesh.seesAllJobs = access(of: mesh.device).seesAllJobs
        guard remotes[link] != nil else { return }
        noteRevocations()
        // It may have been revoked since it was let in, a moment ago.
        if fleet?.isShutOut(device) ?? false { return close(link, Mesh.revokedReason) }
        perform(mesh.onLinkOpened(link, with: access(of: device), isDialled: dialled != nil, now: now))
        peersChanged?()
    }

    package func received(_ message: Message, on link: LinkID) async {
        counters.received(message)
        if case .hello(let hello) = message {
            noteRevocations()
            unfit.note(hello, now: now)
        }
        await perform(mesh.onMessage(withAuthor(message, from: link), on: link, now: now))
        await waitForRoom(link)
    }

    private func withAuthor(_ message: Message, from link: LinkID) -> Message {
        guard case .delta(let job, let segment, let pushed) = message,
            let complete = remotes[link]?.heard.complete(segment)
        else { return message }
        return .delta(job: job, complete, pushed: pushed)
    }

    package func backlogChanged(_ link: LinkID, congested: Bool) async {
        await perform(mesh.onCongestion(link, isCongested: congested, now: now))
    }

    package func linkClosed(_ link: LinkID, reason: String) async {
        let remote = remotes.removeValue(forKey: link)
        if ingestQueue.holds(link) { departed[link] = remote?.peer }
        if remote?.isEstablished ?? false {
            counters.linksClosed.increment()
            logger.info(
                "connection closed",
                metadata: ["link": "\(link)", "remote": "\(remote?.address ?? "")", "reason": "\(reason)"])
        } else {
            note(.endedEarly, "\(remote?.address ?? ""): \(reason)")
        }
        let last = mesh.farewell(link)
        reports.linkClosed(link)
        endExposure(of: link)
        await perform(mesh.onLinkClosed(link, now: now))
        peersChanged?()
        if let dialled = remote?.dialled {
            var generator = machine.generator
            plan.onFailed(dialled, because: reason, now: now, using: &generator)
        }
        dialDue()
        if let last { note(last) }
    }

    package func connectionRefused(remote: String, reason: String) async {
        counters.connectionsRefused.increment()
        note(.refused, "\(remote): \(reason)")
    }

    package func dialFailed(_ address: PeerAddress, _ failure: DialFailure, reason: String) async {
        if failure == .notShown { note(.notShown, "\(address): \(reason)") }
        logger.debug("no connection", metadata: ["address": "\(address)", "reason": "\(reason)"])
        var generator = machine.generator
        plan.onFailed(address, failure, because: reason, now: now, using: &generator)
        dialDue()
    }
}
