import CRDT
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
    let logger: Logger
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
    /// The server may have it.
    var isServerExposed = false
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
    }

    /// What a replicator works with.
    package struct Parts: Sendable {
        let store: Store
        let clock: ClockService
        let machine: any Machine
        let observer: any ReplicationObserver
        let logger: Logger

        package init(
            store: Store, clock: ClockService, machine: any Machine, observer: any ReplicationObserver, logger: Logger
        ) {
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
        lastNoted = machine.elapsedMilliseconds
        let identity = store.identity
        mesh = Mesh(
            device: identity.device, replica: identity.replica, instance: machine.random(),
            name: hostName, fleet: "", jobs: holdings.jobs,
            removals: holdings.removals)
    }

    /// From now on messages go out, addresses are dialled, and everybody hears of what this store commits.
    package func attach(_ links: any PeerLinks) {
        self.links = links
        store.whenCommitted { [weak self] in self?.committed($0) }
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
            let directives = mesh.onCommitted(commit.segment, job: commit.job, now: now)
            await perform(directives)
            advanced(
                commit.job, applied: commit.applied, concernsOutbox: commit.hasStatements && !note.isKnownToOutbox)
        }
    }

    func advanced(_ job: JobID, applied: [AppliedChange] = [], concernsOutbox: Bool = true) {
        observer.jobAdvanced(
            JobAdvance(job: job, vector: mesh.vector(of: job), applied: applied, concernsOutbox: concernsOutbox))
    }

    // MARK: Transport

    package func linkOpened(_ link: LinkID, remote: String, dialled: PeerAddress?) async {
        remotes[link] = Remote(address: remote, dialled: dialled)
        await perform(mesh.onLinkOpened(link, isDialled: dialled != nil, now: now))
    }

    package func received(_ message: Message, on link: LinkID) async {
        await perform(mesh.onMessage(message, on: link, now: now))
        await waitForRoom(link)
    }

    package func backlogChanged(_ link: LinkID, congested: Bool) async {
        await perform(mesh.onCongestion(link, isCongested: congested, now: now))
    }

    package func linkClosed(_ link: LinkID, reason: String) async {
        let remote = remotes.removeValue(forKey: link)
        if remote?.isEstablished ?? false {
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
        if let dialled = remote?.dialled {
            var generator = machine.generator
            plan.onFailed(dialled, now: now, using: &generator)
        }
        dialDue()
        if let last { note(last) }
    }

    package func connectionRefused(remote: String, reason: String) async {
        note(.refused, "\(remote): \(reason)")
    }

    package func dialFailed(_ address: PeerAddress, reason: String) async {
        logger.debug("no connection", metadata: ["address": "\(address)", "reason": "\(reason)"])
        var generator = machine.generator
        plan.onFailed(address, now: now, using: &generator)
        dialDue()
    }

    // MARK: Directives

    func perform(_ directives: [Directive]) async {
        for directive in directives { await perform(directive) }
        flush(directives)
        scheduleTimer()
    }

    /// Peers get what was just committed before anything else that waits for the same commit.
    private func flush(_ directives: [Directive]) {
        var last: LinkID?
        for case .send(_, let link) in directives where link != last {
            links?.flush(link)
            last = link
        }
    }

    func perform(_ directive: Directive) async {
        switch directive {
        case .send(let message, let link): links?.send(message, on: link)
        case .close(let link, let reason): close(link, reason)
        case .persist(let job, let segment, let link):
            ingestQueue.add(IngestQueue.Run(job: job, segment: segment, link: link))
            ingestNext()
        case .load(let job, let replica, let from, let maximumBytes, let link):
            let segment = try? await store.segment(of: replica, job: job, from: from, maximumBytes: maximumBytes)
            await perform(mesh.onLoaded(segment, job: job, replica: replica, asked: from, for: link, now: now))
        case .lookUp(let job, let replica, let sequence, let lookup):
            let found = try? await store.boundary(of: replica, job: job, at: sequence)
            let answer = ProbeAnswer(
                sequence: sequence, boundary: found?.head, changeHash: found?.changeHash ?? 0)
            await perform(mesh.onLookedUp(answer, job: job, replica: replica, for: lookup, now: now))
        case .checkOwnJournal(let job, let claimed, let link): await checkOwnJournal(of: job, claimed, from: link)
        case .renewReplica(let former, let reason): await renew(former, reason)
        case .proofIgnored(let link, let reason): note(.proofIgnored, "\(remotes[link]?.address ?? ""): \(reason)")
        case .renewDevice(let reason): await renew(nil, reason)
        case .adoptBranch(let job, let segment, let keep): await adopt(segment, job: job, after: keep)
        case .takeRemoval(let job, let removal, let link):
            if await !takeRemoval(removal, of: job, from: link) { mesh.onRemovalFailed(job, from: link) }
        case .answerPing(let number, let received, let link):
            links?.send(clock.pong(number, received: received), on: link)
        case .learnTime(let exchange, let quality, let device, let link):
            await learn(
                TimeSample(exchange: exchange, quality: quality, source: .peer(device.description)), on: link)
        case .established(let link, let hello): established(link, hello)
        case .recognised(let link, let device):
            if let dialled = remotes[link]?.dialled { plan.onRecognised(dialled, device: device) }
        case .report(let job, let number, let link):
            // In a task of its own: adding up a large job must not hold up what this peer sends.
            machine.begin { await self.answer(job, number: number, to: link) }
        case .reported(let report, let link): reports.arrived(report, from: link)
        }
    }
}
