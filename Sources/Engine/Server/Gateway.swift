package import CRDT
package import CoreMetrics
package import Logging
import Metering
import Replication
package import ServerChannel
package import Storage

/// Brings what the crew has to the server and what the server has to the crew, whenever there is a way.
package actor Gateway {
    /// A commit seldom comes alone.
    private static let gatheringMilliseconds: UInt64 = 150
    /// How often it is written down that the server has answered.
    private static let answerNoteMilliseconds: UInt64 = 600_000

    nonisolated let server: any ServerExchange
    let store: Store
    let replicator: Replicator
    let logger: Logger
    let assignments: (any AssignmentRegister)?
    private let machine: any Machine
    private let outbox: OutboxDriver
    private let routeChanged: @Sendable (Bool) -> Void
    private let host: String
    private let polls: Counter
    private let pollsFailed: Counter
    private var plan: PollPlan
    private var routes: RouteTable?
    private var isPolling = false
    /// The poll under way was ended from here, which says nothing of the server.
    private var isCutOff = false
    /// What has changed here since the poll began that is under way: it may have looked at these jobs before.
    private var changedMeanwhile: [JobID: UInt64] = [:]
    var held = ServerHoldings()
    var looks = RepeatedLooks()
    /// Since the last list began the server may tell this laptop of other jobs.
    private var mustListAgain = false
    /// At these jobs the server failed; they come last.
    private var troubled: Set<JobID> = []
    /// How this device stands with the server.
    package internal(set) var standing = ServerStanding()
    private var answerWritten: UInt64?
    private var generator: MachineGenerator
    private let occasions: AsyncStream<Void>
    private nonisolated let occasion: AsyncStream<Void>.Continuation

    /// What a gateway works with.
    package struct Parts: Sendable {
        let server: any ServerExchange
        let store: Store
        let replicator: Replicator
        let outbox: OutboxDriver
        let machine: any Machine
        let logger: Logger
        let assignments: (any AssignmentRegister)?
        let metrics: any MetricsFactory

        /// - Parameters:
        ///   - assignments: nil where every job is everybody's.
        ///   - metrics: where polls are counted.
        package init(
            server: any ServerExchange, store: Store, replicator: Replicator, outbox: OutboxDriver,
            machine: any Machine, logger: Logger, assignments: (any AssignmentRegister)? = nil,
            metrics: any MetricsFactory = NOOPMetricsHandler.instance
        ) {
            self.metrics = metrics
            self.assignments = assignments
            self.server = server
            self.store = store
            self.replicator = replicator
            self.outbox = outbox
            self.machine = machine
            self.logger = logger
        }
    }

    /// - Parameters:
    ///   - host: the server's, to know whether there is a route to it.
    ///   - interval: of polls, in milliseconds.
    ///   - routeChanged: told whenever there is a route, or none any more.
    package init(
        _ parts: Parts, host: String, interval: UInt64, routeChanged: @escaping @Sendable (Bool) -> Void = { _ in }
    ) {
        server = parts.server
        store = parts.store
        replicator = parts.replicator
        outbox = parts.outbox
        assignments = parts.assignments
        machine = parts.machine
        logger = parts.logger
        polls = parts.metrics.counter(.polls)
        pollsFailed = parts.metrics.counter(.pollsFailed)
        self.routeChanged = routeChanged
        self.host = host
        generator = machine.generator
        plan = PollPlan(interval: interval)
        (occasions, occasion) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var now: UInt64 { machine.elapsedMilliseconds }

    /// Polls until it is cancelled.
    package func run() async {
        var waiting = occasions.makeAsyncIterator()
        while !Task.isCancelled {
            guard let due = plan.nextPoll else {
                _ = await waiting.next()
                continue
            }
            guard due <= now else {
                let timer = machine.at(due) { [occasion] in occasion.yield() }
                _ = await waiting.next()
                timer.cancel()
                continue
            }
            changedMeanwhile = [:]
            isPolling = true
            isCutOff = false
            await poll()
            isPolling = false
            if changedMeanwhile.contains(where: { held.fingerprints[$0.key] != $0.value }) { wish() }
        }
    }

    // MARK: Reasons to poll

    /// The machine's routes are other ones.
    ///
    /// - Parameter table: nil where routes cannot be watched.
    package func routesChanged(_ table: RouteTable?) async {
        let isUp = table?.reaches(host) ?? true
        if let routes, table != routes {
            if isUp, table?.lacksAddress(of: routes, towards: host) ?? false {
                logger.info("this machine has lost an address: the server is asked anew")
                beginAnew()
            } else {
                // Without a way nobody will answer what is under way, and when there is one again it would be waited for.
                server.connectAnew(endingWhatIsUnderWay: !isUp)
            }
        }
        routes = table
        if plan.isRouteUp != isUp {
            logger.info(isUp ? "there is a route to the server" : "there is no route to the server")
        }
        plan.onRoute(isUp: isUp, now: now, using: &generator)
        if !isUp { standing.state = .noRoute }
        routeChanged(isUp)
        await outbox.route(isUp: isUp)
        occasion.yield()
    }

    /// The laptop was asleep and is awake.
    package func resumed() {
        guard plan.isRouteUp ?? false else { return }
        beginAnew()
        occasion.yield()
    }

    /// What is under way is lost, and asked again at once.
    private func beginAnew() {
        isCutOff = isPolling
        server.connectAnew(endingWhatIsUnderWay: true)
        plan.onNewWay(now: now)
    }

    /// A job has changed here; not worth a poll if that is what the server holds.
    package func jobAdvanced(_ job: JobID, fingerprint: UInt64) {
        if isPolling {
            changedMeanwhile[job] = fingerprint
        } else if held.fingerprints[job] != fingerprint {
            wish()
        }
    }

    /// It was said here who is on a job.
    package func assigned() { wish() }

    private func wish() {
        plan.onWish(now: now + Self.gatheringMilliseconds)
        occasion.yield()
    }

    /// This laptop has joined a fleet, has another certificate, or knows of another revocation.
    package func fleetChanged() {
        // With another certificate it may be told of others.
        mustListAgain = true
        plan.onFleet(now: now)
        occasion.yield()
    }

    /// A delivery was answered although the last round was refused.
    func acceptedAgain() {
        plan.onCredentials(now: now)
        occasion.yield()
    }

    // MARK: A round

    private func poll() async {
        polls.increment()
        do {
            try await round()
            if standing.state != .reached { logger.info("the server answers") }
            standing.state = .reached
            await noteAnswer()
            plan.onAnswer(now: now, using: &generator)
        } catch let error as RoundFailure {
            failed(error)
        } catch let problem as ServerProblem {
            failed(RoundFailure(failure: .unhealthy, state: .unhealthy(problem.sentence)))
        } catch {
            logger.error("a round with the server failed", metadata: ["error": "\(error)"])
            failed(RoundFailure(failure: .unhealthy, state: .unhealthy("this device's store cannot be read")))
        }
    }

    private func failed(_ error: RoundFailure) {
        // That is what the route says already, and no illness of the server.
        guard plan.isRouteUp != false else { return }
        guard !isCutOff else { return plan.onNewWay(now: now) }
        pollsFailed.increment()
        if standing.state != error.state {
            logger.info("the server cannot be used", metadata: ["reason": "\(error.state)"])
        }
        standing.state = error.state
        plan.onFailure(error.failure, now: now, using: &generator)
    }

    private func round() async throws {
        if mustListAgain { held.listAgain() }
        mustListAgain = false
        repeat {
            let list = try await server.jobs(since: held.cursor).get()
            await answered()
            held.update(list)
            if list.entries.count < ChannelLimits.entries { break }
        } while !Task.isCancelled
        let here = Dictionary(
            try await store.vectors().map { ($0.job, $0.vector.fingerprint) }, uniquingKeysWith: { first, _ in first })
        let apart = reconcile(here: here, server: held.fingerprints).compactMap { job, difference -> JobID? in
            if case .both(let mine, let theirs) = difference, mine == theirs, !isAssignedApart(job) { return nil }
            return job
        }
        var failure: RoundFailure?
        for job in apart.filter({ !troubled.contains($0) }) + apart.filter({ troubled.contains($0) }) {
            do {
                try await synchronise(job)
                troubled.remove(job)
            } catch let error as RoundFailure where error.failure == .unhealthy {
                // It may be ill at this job only: another one is tried before it is left alone.
                troubled.insert(job)
                if failure != nil { throw error }
                failure = error
            }
        }
        if let failure { throw failure }
        try await lookAgain()
    }

    /// Something of the server came: whoever waits for it need not.
    private func answered() async {
        let wasUnauthorised = standing.isUnauthorised
        await noteAnswer()
        await outbox.serverReached()
        if wasUnauthorised { await outbox.credentialsChanged() }
    }

    /// Durable now and then only: a restart may not know of the last few minutes.
    private func noteAnswer() async {
        let time = await outbox.wall(now)
        standing.lastAnswer = time
        guard answerWritten.map({ now - $0 >= Self.answerNoteMilliseconds }) ?? true else { return }
        answerWritten = now
        do { try await store.noteServerAnswer(at: time) } catch {
            logger.warning("that the server answered could not be noted", metadata: ["error": "\(error)"])
        }
    }
}
