import CRDT
import Engine
import Identity
import Logging
import Replication
import Storage
import Synchronization
import Transport

/// Who is on which job, as far as this laptop was told; and says so itself, where its certificate allows it.
final class JobAssignments: AssignmentRegister {
    private struct State {
        /// The public key of the fleet's root; empty while the laptop belongs to none.
        var fleet: [UInt8] = []
        var log = AssignmentLog()
        /// The fleet of which the mesh was told.
        var told: [UInt8] = []
    }

    let store: Store
    let identity: FleetIdentity
    let logger: Logger
    private let state: Mutex<State>

    /// Takes up what the store remembers of the laptop's fleet.
    ///
    /// - Throws: `StoreError`.
    init(store: Store, identity: FleetIdentity, logger: Logger) async throws {
        self.store = store
        self.identity = identity
        self.logger = logger
        let fleet = identity.membership?.trust.root.key.bytes ?? []
        state = Mutex(State(fleet: fleet, log: try await Self.log(of: fleet, in: store), told: fleet))
    }

    /// What was kept was judged before.
    private static func log(of fleet: [UInt8], in store: Store) async throws -> AssignmentLog {
        var log = AssignmentLog()
        for statement in try await store.follow(fleet) { _ = log.add(statement) }
        return log
    }

    /// Who is on a job.
    func roster(of job: JobID) -> JobRoster { state.withLock { $0.log[job] } }

    // MARK: AssignmentRegister

    var rosters: [(job: JobID, roster: JobRoster)] {
        state.withLock { state in state.log.jobs.map { (job: $0, roster: state.log[$0]) } }
    }

    func access(of device: DeviceID) -> JobAccess { identity.jobAccess(of: device) }

    func rostersOfNewFleet() async -> [(job: JobID, roster: JobRoster)]? {
        await follow()
        let isNew = state.withLock { state in
            defer { state.told = state.fleet }
            return state.told != state.fleet
        }
        return isNew ? rosters : nil
    }

    /// The laptop may have joined another fleet, or left it.
    func follow() async {
        let fleet = identity.membership?.trust.root.key.bytes ?? []
        guard state.withLock({ $0.fleet != fleet }) else { return }
        do {
            let log = try await Self.log(of: fleet, in: store)
            state.withLock { ($0.fleet, $0.log) = (fleet, log) }
        } catch {
            logger.error("who is on jobs could not be read", metadata: ["error": "\(error)"])
        }
    }

    func learn(_ statements: [Assignment]) async throws(AssignmentObstacle) {
        guard let trust = identity.membership?.trust else { return }
        await follow()
        let news: [Assignment]
        do throws(AssignmentRefusal) {
            news = try await state.withLock { $0.log }.news(in: statements, of: trust, now: identity.now)
        } catch {
            throw .unsigned(error.sentence)
        }
        do { try await keep(news, of: trust.root.key.bytes) } catch {
            logger.error("who is on a job could not be kept", metadata: ["error": "\(error)"])
            throw .notKept("This laptop cannot keep who is on a job.")
        }
    }

    /// Durable before it is in force: nothing of a job is asked for by whom a power cut would let forget whom it is for.
    func keep(_ news: [Assignment], of fleet: [UInt8]) async throws {
        guard !news.isEmpty else { return }
        try await store.keepAssignments(news, of: fleet)
        state.withLock { state in
            guard state.fleet == fleet else { return }
            for statement in news { _ = state.log.add(statement) }
        }
    }

    func receives(_ job: JobID) -> Bool {
        guard let membership = identity.membership else { return true }
        let isInGrace = membership.validUntil < identity.now.earliest
        return !isInGrace && (membership.own.role.seesAllJobs || roster(of: job).includes(identity.device))
    }

    // MARK: Assigning

    /// Says who is on a job, in this laptop's name: durable before it is in force.
    ///
    /// - Parameter words: none about a laptop twice.
    /// - Throws: `IdentityFault` when this laptop may not, `StoreError`.
    func assign(_ words: [Assignment.Word], to job: JobID, now: UInt64) async throws {
        guard let membership = identity.membership else { throw FleetIdentity.Fault.notEnrolled }
        guard !identity.isRevoked else { throw FleetIdentity.Fault.revoked }
        guard membership.own.role.mayAssign else {
            throw FleetIdentity.Fault.notPermitted(
                "This laptop may not say who is on a job: a lead's or the office's may ('muster fleet list' names them)."
            )
        }
        await follow()
        guard (1...Assignment.mostDevices).contains(words.count) else {
            throw FleetIdentity.Fault.unusable("Name 1 to \(Assignment.mostDevices) laptops at a time.")
        }
        let roster = roster(of: job)
        let statement = membership.trust.assignment(
            of: job, words, stamp: roster.nextStamp(now: now, about: words.map(\.device)), by: identity.key,
            certificates: identity.certificates(of: identity.publicKey))
        var next = roster
        guard let statement, next.apply(statement) else {
            throw FleetIdentity.Fault.unusable(
                "No more can be said of who is on this job: what was said is dated in the far future, or names too many laptops."
            )
        }
        try await keep([statement], of: membership.trust.root.key.bytes)
    }
}

extension FleetIdentity {
    /// What a laptop that was let in may be told of jobs, by the newest certificate of its that was seen.
    func jobAccess(of device: DeviceID) -> JobAccess {
        let earliest = now.earliest
        if device == self.device {
            return JobAccess(device, seesAllJobs: membership?.own.role.seesAllJobs ?? false)
        }
        return state.withLock { state in
            guard let known = state.known[device] else { return JobAccess(device) }
            return (FleetRole(rawValue: known.role) ?? .member)
                .jobAccess(of: device, isInGrace: known.validUntil.map { $0 < earliest } ?? false)
        }
    }
}
