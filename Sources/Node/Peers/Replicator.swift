import CRDT
import Inventory
import Logging
import Replication
import Storage
import Transport

/// Carries out what the mesh decides: between the store, the transport and the people who watch.
///
/// One actor, so that the mesh sees one thing after another. It waits for the store within `received`, which is what
/// keeps a fast peer from filling the memory.
actor Replicator: TransportHandler {
    private var mesh: Mesh
    private let store: Store
    private let observer: any ReplicationObserver
    private let logger: Logger
    private var transport: PeerTransport?
    private var timer: Task<Void, Never>?
    private var timerDeadline: UInt64?
    private var remotes: [LinkID: Remote] = [:]
    private var plan = DialPlan()
    private var dialTimer: Task<Void, Never>?
    private var dialDeadline: UInt64?
    private var reports = ReportCollector()

    /// The other end of a connection.
    struct Remote: Sendable {
        let address: String
        /// The address that was dialled; nil for one that came in.
        let dialled: PeerAddress?
    }

    init(
        store: Store, jobs: [(job: JobID, vector: VersionVector)], instance: UInt64, hostName: String,
        observer: any ReplicationObserver, logger: Logger
    ) {
        self.store = store
        self.observer = observer
        self.logger = logger
        let identity = store.identity
        mesh = Mesh(
            device: identity.device, replica: identity.replica, instance: instance,
            name: String(hostName.prefix(ProtocolLimits.nameBytes / 4)), fleet: "", jobs: jobs)
    }

    func attach(_ transport: PeerTransport) {
        self.transport = transport
    }

    private var now: UInt64 { SystemClock.elapsedMilliseconds }

    // MARK: For people

    /// Everything that is known of the peers at one moment.
    struct PeersOverview: Sendable {
        let links: [LinkOverview]
        let remotes: [LinkID: Remote]
        let targets: [PeerAddress: DialPlan.Target]
    }

    // Worked out here and handed over whole: a copy of the mesh held elsewhere would make its next change copy it all.
    func peers() -> PeersOverview {
        PeersOverview(links: mesh.overview(), remotes: remotes, targets: plan.targets)
    }

    func connectedPeers() -> [LinkOverview] {
        mesh.overview()
    }

    /// How many transforms of a job each connected peer lacks.
    func peersBehind(job: JobID) -> [(peer: Hello, transforms: UInt64)] {
        mesh.overview().map { ($0.peer, mesh.behind($0.link, job: job)) }.filter { $0.transforms > 0 }
    }

    // MARK: Local edits

    /// A commit of this store is durable: everybody hears of it.
    func committed(_ commit: Commit) async {
        let directives = mesh.onCommitted(commit.segment, job: commit.job, now: now)
        await perform(directives)
        observer.jobAdvanced(
            commit.job, vector: mesh.vector(of: commit.job), applied: commit.applied, segment: commit.segment)
    }

    // MARK: Transport

    func linkOpened(_ link: LinkID, remote: String, dialled: PeerAddress?) async {
        remotes[link] = Remote(address: remote, dialled: dialled)
        await perform(mesh.onLinkOpened(link, isDialled: dialled != nil, now: now))
    }

    func received(_ message: Message, on link: LinkID) async {
        await perform(mesh.onMessage(message, on: link, now: now))
    }

    func backlogChanged(_ link: LinkID, congested: Bool) async {
        await perform(mesh.onCongestion(link, isCongested: congested, now: now))
    }

    func linkClosed(_ link: LinkID, reason: String) async {
        let remote = remotes.removeValue(forKey: link)
        logger.info(
            "connection closed",
            metadata: ["link": "\(link)", "remote": "\(remote?.address ?? "")", "reason": "\(reason)"])
        reports.linkClosed(link)
        await perform(mesh.onLinkClosed(link, now: now))
        if let dialled = remote?.dialled {
            var generator = SystemRandomNumberGenerator()
            plan.onFailed(dialled, now: now, using: &generator)
        }
        dialDue()
        observer.peersChanged()
    }

    func dialFailed(_ address: PeerAddress, reason: String) async {
        logger.debug("no connection", metadata: ["address": "\(address)", "reason": "\(reason)"])
        var generator = SystemRandomNumberGenerator()
        plan.onFailed(address, now: now, using: &generator)
        dialDue()
    }

    // MARK: Dialling

    /// Changes what is known of addresses, then dials what is due.
    func updatePlan(_ change: @Sendable (inout DialPlan, UInt64) -> Void) {
        change(&plan, now)
        dialDue()
    }

    /// Discovery has told of a service, perhaps for the second time because it moved.
    func discovered(_ instance: String, id: String, addresses: [PeerAddress]) async {
        plan.onFound(instance, id: id, addresses: addresses, now: now)
        await perform(mesh.onDoubt(about: id, now: now))
        dialDue()
    }

    /// A service is no longer announced, which says little about the connection with it: it is asked.
    func vanished(_ instance: String) async {
        for id in plan.onLost(instance).sorted() { await perform(mesh.onDoubt(about: id, now: now)) }
    }

    private func dialDue() {
        let connected = Set(mesh.overview().map(\.peer.device))
        for address in plan.due(now: now, connected: connected) { transport?.dial(address) }
        let deadline = plan.nextDeadline(connected: connected)
        guard deadline != dialDeadline || dialTimer == nil else { return }
        dialTimer?.cancel()
        dialTimer = nil
        dialDeadline = deadline
        guard let deadline else { return }
        let delay = deadline - min(deadline, now)
        dialTimer = Task { [weak self] in
            guard (try? await Task.sleep(for: .milliseconds(Int(delay)))) != nil else { return }
            await self?.dialTimerFired()
        }
    }

    private func dialTimerFired() {
        // Cancelled while it waited for its turn: another one has taken its place.
        guard !Task.isCancelled else { return }
        dialTimer = nil
        dialDue()
    }

    // MARK: Comparing

    /// Asks every connected device how its copy of a job looks; devices that do not answer in time are left out.
    func collectReports(of job: JobID, within timeout: Duration) async -> [LinkID: Replication.JobReport] {
        let links = mesh.overview().map(\.link)
        let number = reports.begin(links)
        for link in links { transport?.send(.reportRequest(job: job, number: number), on: link) }
        let deadline = Task { [weak self] in
            guard (try? await Task.sleep(for: timeout)) != nil else { return }
            await self?.endReports(number)
        }
        defer { deadline.cancel() }
        return await withCheckedContinuation { reports.wait(number, $0) }
    }

    private func endReports(_ number: UInt64) {
        reports.end(number)
    }

    // MARK: Directives

    private func perform(_ directives: [Directive]) async {
        for directive in directives { await perform(directive) }
        scheduleTimer()
    }

    private func perform(_ directive: Directive) async {
        switch directive {
        case .send(let message, let link): transport?.send(message, on: link)
        case .close(let link, let reason): close(link, reason)
        case .persist(let job, let segment, let link): await persist(segment, job: job, from: link)
        case .load(let job, let replica, let from, let maximumBytes, let link):
            let segment = try? await store.segment(of: replica, job: job, from: from, maximumBytes: maximumBytes)
            await perform(mesh.onLoaded(segment, job: job, replica: replica, asked: from, for: link, now: now))
        case .lookUp(let job, let replica, let sequence, let lookup):
            let found = try? await store.boundary(of: replica, job: job, at: sequence)
            let answer = ProbeAnswer(
                sequence: sequence, boundary: found?.head, changeHash: found?.changeHash ?? 0)
            await perform(mesh.onLookedUp(answer, job: job, replica: replica, for: lookup, now: now))
        case .renewReplica(let reason): await renew(reason, isNewDevice: false)
        case .renewDevice(let reason): await renew(reason, isNewDevice: true)
        case .adoptBranch(let job, let segment, let keep): await adopt(segment, job: job, after: keep)
        case .established(let link, let hello): established(link, hello)
        case .recognised(let link, let device):
            if let dialled = remotes[link]?.dialled { plan.onRecognised(dialled, device: device) }
        case .report(let job, let number, let link):
            // In a task of its own: adding up a large job must not hold up what this peer sends.
            Task { await self.answer(job, number: number, to: link) }
        case .reported(let report, let link): reports.arrived(report, from: link)
        }
    }

    private func close(_ link: LinkID, _ reason: String) {
        // Not the address's fault, and not worth another try: this laptop found itself.
        if let dialled = remotes[link]?.dialled, reason == Mesh.ownDeviceReason { plan.onSelf(dialled) }
        transport?.send(.goodbye(reason), on: link)
        transport?.close(link, reason: reason)
    }

    private func established(_ link: LinkID, _ hello: Hello) {
        logger.info(
            "peer connected",
            metadata: [
                "link": "\(link)", "device": "\(hello.device.short)", "name": "\(hello.name)",
                "remote": "\(remotes[link]?.address ?? "")",
            ])
        if let dialled = remotes[link]?.dialled { plan.onEstablished(dialled, device: hello.device) }
        observer.peersChanged()
    }

    private func persist(_ segment: JournalSegment, job: JobID, from link: LinkID) async {
        var applied: [AppliedChange] = []
        let outcome: PersistOutcome
        do {
            switch try await store.ingest(segment, job: job) {
            case .stored(_, let changes):
                outcome = .stored
                applied = changes
            case .duplicate(let head), .gap(let head): outcome = .outdated(head)
            case .forked: outcome = .forked
            case .ownFuture: outcome = .ownFuture
            }
        } catch let error as CodecError {
            outcome = .malformed("\(error)")
        } catch {
            logger.error("a peer's changes could not be stored", metadata: ["error": "\(error)"])
            outcome = .failed
        }
        // A compiler's feature once let this go on off the actor (ARCHITECTURE.md, "Threads"): better to stop than to race.
        preconditionIsolated()
        let directives = mesh.onPersisted(segment, job: job, from: link, outcome: outcome, now: now)
        if outcome == .stored {
            observer.jobAdvanced(job, vector: mesh.vector(of: job), applied: applied, segment: segment)
        }
        await perform(directives)
    }

    private func renew(_ reason: String, isNewDevice: Bool) async {
        logger.warning("this store becomes a new replica", metadata: ["reason": "\(reason)"])
        var generator = SystemRandomNumberGenerator()
        do {
            let identity =
                isNewDevice
                ? try await store.renewDevice(using: &generator) : try await store.renewReplica(using: &generator)
            await perform(mesh.onRenewed(device: identity.device, replica: identity.replica, now: now))
        } catch {
            logger.error("the store could not be renewed", metadata: ["error": "\(error)"])
            mesh.onRenewalFailed(now: now)
        }
    }

    private func adopt(_ segment: JournalSegment, job: JobID, after keep: UInt64) async {
        var generator = SystemRandomNumberGenerator()
        do {
            let adopted = try await store.adoptBranch(segment, job: job, after: keep, using: &generator)
            logger.warning(
                "a forked journal was settled",
                metadata: ["job": "\(job)", "replica": "\(segment.replica)", "reissued": "\(adopted.reissued != nil)"])
            let identity = store.identity
            var directives: [Directive] = []
            if identity.replica != mesh.replica {
                directives = mesh.onRenewed(device: identity.device, replica: identity.replica, now: now)
            }
            directives += mesh.onBranchAdopted(
                adopted.head, job: job, replica: segment.replica, reissued: adopted.reissued?.segment, now: now)
            observer.jobAdvanced(job, vector: mesh.vector(of: job), applied: [], segment: segment)
            await perform(directives)
        } catch {
            logger.error("a forked journal could not be settled", metadata: ["error": "\(error)"])
            await perform(mesh.onBranchAdopted(nil, job: job, replica: segment.replica, reissued: nil, now: now))
        }
    }

    private func answer(_ job: JobID, number: UInt64, to link: LinkID) async {
        let report = try? await store.report(of: job)
        let digest = report.map { $0.digest.hexadecimalBytes } ?? []
        let answer = Replication.JobReport(
            job: job, number: number, vector: report?.vector ?? VersionVector(), digest: digest)
        transport?.send(.report(answer), on: link)
        mesh.onReportSent(to: link)
    }

    // MARK: Time

    private func scheduleTimer() {
        let deadline = mesh.nextDeadline
        // A timer that fires early costs one wake-up; making a new one for each message costs far more.
        if timer != nil, let deadline, let timerDeadline, timerDeadline <= deadline { return }
        timer?.cancel()
        timer = nil
        timerDeadline = deadline
        guard let deadline else { return }
        let delay = deadline - min(deadline, now)
        timer = Task { [weak self] in
            guard (try? await Task.sleep(for: .milliseconds(Int(delay)))) != nil else { return }
            await self?.timerFired()
        }
    }

    private func timerFired() async {
        guard !Task.isCancelled else { return }
        timer = nil
        await perform(mesh.onTimer(now: now))
    }
}

extension String {
    /// The bytes of an even number of hexadecimal digits.
    fileprivate var hexadecimalBytes: [UInt8] {
        let digits = Array(utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
        }
    }
}
