import Authorship
import CRDT
import Engine
import Identity
import Storage

/// Who is on which job, as one start of a laptop's daemon, or of the server, knows it: by the fleet's own rules, and kept in the store.
final class SimulatedAssignments: AssignmentRegister, @unchecked Sendable {
    private let store: Store
    private let membership: Membership
    private let now: () -> Int64
    /// Told of what has just come into force.
    private let learned: ([Assignment]) -> Void
    private var log = AssignmentLog()

    /// Takes up what the store remembers.
    ///
    /// - Parameter now: milliseconds since 1970, by whose clock this is.
    init(
        store: Store, membership: Membership, now: @escaping () -> Int64, learned: @escaping ([Assignment]) -> Void
    ) async throws {
        (self.store, self.membership, self.now, self.learned) = (store, membership, now, learned)
        let kept = try await store.follow(membership.fleetKey)
        for statement in kept { _ = log.add(statement) }
        learned(kept)
    }

    var rosters: [(job: JobID, roster: JobRoster)] { log.jobs.map { (job: $0, roster: log[$0]) } }

    func roster(of job: JobID) -> JobRoster { log[job] }

    func access(of device: DeviceID) -> JobAccess {
        membership.role(of: device).jobAccess(of: device, isInGrace: false)
    }

    func receives(_ job: JobID) -> Bool {
        let device = store.identity.device
        return membership.role(of: device).seesAllJobs || log[job].includes(device)
    }

    func learn(_ statements: [Assignment]) async throws(AssignmentObstacle) {
        do { _ = try await take(statements) } catch let refusal as AssignmentRefusal {
            throw .unsigned(refusal.sentence)
        } catch {
            throw .notKept("This laptop cannot keep who is on a job.")
        }
    }

    func cutOff(_ devices: Set<DeviceID>) async {}

    /// All, or none.
    ///
    /// - Returns: what was news.
    func take(_ statements: [Assignment]) async throws -> [Assignment] {
        let time = TimeBounds(now(), within: 0)
        let news = try await log.news(in: statements, of: membership.fleet.trust, now: time)
        try await keep(news)
        return news
    }

    func rostersOfNewFleet() async -> [(job: JobID, roster: JobRoster)]? { nil }

    /// Durable before it is in force.
    private func keep(_ news: [Assignment]) async throws {
        guard !news.isEmpty else { return }
        try await store.keepAssignments(news, of: membership.fleetKey)
        for statement in news { _ = log.add(statement) }
        learned(news)
    }

    /// Says who is on a job, in its laptop's name.
    ///
    /// - Returns: what was said; nil when nothing more can be said of the job.
    func assign(_ words: [Assignment.Word], to job: JobID, by signer: TestSigner) async throws -> Assignment? {
        var words = words
        let roster = log[job]
        // Whoever narrows a job goes on with it, unless they say that they do not.
        if !roster.isAssigned, !words.contains(where: { $0.device == signer.device }),
            !membership.role(of: signer.device).seesAllJobs
        {
            words.append(Assignment.Word(signer.device, isOn: true))
        }
        let stamp = roster.nextStamp(now: UInt64(clamping: now()), about: words.map(\.device))
        var next = roster
        guard let statement = membership.statement(of: job, words, stamp: stamp, by: signer), next.apply(statement)
        else { return nil }
        membership.isSaying(statement)
        try await keep([statement])
        return statement
    }
}
