package import CRDT
import Crypto
import Foundation
import GRDB
package import Outbox
import Synchronization

/// What the server thinks of a request.
package enum MutationEvaluation: Hashable, Sendable {
    /// What it publishes; nothing when what was asked for is so already.
    case accept([PublishedValue])
    /// For good, with the reason for people.
    case reject(String)
}

extension MutationEvaluation {
    /// As the request's kind wants it, on a job as it stands.
    package init(of request: MutationRequest, on standing: JobStanding) {
        do throws(MutationRefusal) {
            self = .accept(try MutationKinds.all.effect(of: request, on: standing))
        } catch {
            self = .reject(error.sentence)
        }
    }
}

/// What became of requests that came together.
package struct Decisions: Hashable, Sendable {
    /// Of the first of them, in their order.
    package fileprivate(set) var made: [Decision] = []
    /// Why it stopped before the rest, which nobody has looked at; nil when all are decided.
    package fileprivate(set) var obstacle: DecisionObstacle?
}

/// What came of one request.
package struct Decision: Hashable, Sendable {
    /// The same for every delivery of its token.
    package let outcome: Outcome
    /// Nil when it had been decided before.
    package let commit: Commit?
}

/// Why a request cannot be decided. Nothing has changed.
package enum DecisionObstacle: Error, Hashable, Sendable {
    /// The request before it in its lane has no outcome yet.
    case predecessorMissing(MutationToken)
    /// The sender holds more of the channel than this store, which ends there: it was set back, and would decide by a
    /// state that is not the last.
    case behind(UInt64)
    /// The token was used for another request.
    case tokenReused
}

/// The server's side of requests; only for a store that is the channel.
extension Store {
    /// Decides requests as their kinds want it: see `decide(_:now:rejecting:judge:)`.
    package func decide(
        _ deliveries: [Delivery], now: @escaping @Sendable () -> ReceiveTime, rejecting: [MutationToken: String] = [:]
    ) async throws -> Decisions {
        var digests: [JobID: String] = [:]
        for delivery in deliveries where MutationKinds.all[delivery.request.kind]?.needsItems == true {
            // Added up before the transaction: a job of 100,000 items would hold all others up.
            do { digests[delivery.job] = try await digest(of: delivery.job).text } catch let error as StoreError
                where error.code == .unknownJob
            { continue }
        }
        return try await decide(deliveries, now: now(), rejecting: rejecting) { [digests] one, published in
            MutationEvaluation(of: one.request, on: JobStanding(values: published, digest: digests[one.job]))
        }
    }

    /// Decides requests one after the other, in one transaction, up to the first that cannot be: who has to follow that one
    /// must not overtake it. Of each the outcome and what it publishes become one entry of its channel. A token that has an
    /// outcome keeps it, and has no second effect (rule R8).
    ///
    /// - Parameters:
    ///   - rejecting: whose author may not ask, with the reason for people: whatever they follow, they are rejected for good.
    ///   - judge: gets a request and what is published of its job by then.
    /// - Throws: what `judge` throws, and `StoreError`; then nothing is decided.
    package func decide(
        _ deliveries: [Delivery], now: ReceiveTime, rejecting: [MutationToken: String] = [:],
        judge: @escaping @Sendable (Delivery, [FieldName: String]) throws -> MutationEvaluation
    ) async throws -> Decisions {
        try await write { [self] db in
            var decisions = Decisions()
            for one in deliveries {
                switch try decide(one, now: now, rejection: rejecting[one.request.token], judge: judge, in: db) {
                case .success(let decision): decisions.made.append(decision)
                case .failure(let obstacle):
                    decisions.obstacle = obstacle
                    return decisions
                }
            }
            return decisions
        }
    }

    private func decide(
        _ delivered: Delivery, now: ReceiveTime, rejection: String?,
        judge: (Delivery, [FieldName: String]) throws -> MutationEvaluation, in db: Database
    ) throws -> Result<Decision, DecisionObstacle> {
        let (request, job) = (delivered.request, delivered.job)
        let fingerprint = Self.fingerprint(of: request, job: job)
        let used = try Data.fetchOne(
            db, sql: "SELECT fingerprint FROM delivery WHERE token = ?", arguments: [request.token.value.blob])
        if let used, used != fingerprint { return .failure(.tokenReused) }
        let listed = try JobRows(known: job, in: db)
        if let outcome = try listed?.outcome(of: request.token) {
            return .success(Decision(outcome: outcome, commit: nil))
        }
        let head = try listed?.channel.head()
        guard delivered.knownChannel ?? 0 <= head?.sequence ?? 0 else { return .failure(.behind(head?.sequence ?? 0)) }
        let isWithdrawn = try listed?.isWithdrawn(request.token) ?? false
        // Who has been taken back need not wait for anybody, and of a job that has ended everything is rejected: what was
        // before it may have gone with the job.
        let isRemoved = try listed?.isRemoved() ?? false
        let rejection = isRemoved ? "The job has been removed for good; open another one." : rejection
        if let after = request.after, !isWithdrawn, rejection == nil, try !(listed?.isSettled(after) ?? false) {
            return .failure(.predecessorMissing(after))
        }
        try db.execute(
            sql: "INSERT INTO delivery (token, fingerprint) VALUES (?, ?)",
            arguments: [request.token.value.blob, fingerprint])
        return try transact(on: job, entersJob: true, now: now, in: db) { transaction in
            let evaluation: MutationEvaluation? =
                if isWithdrawn {
                    nil
                } else if let rejection {
                    .reject(rejection)
                } else {
                    try judge(delivered, try transaction.job.published())
                }
            let (outcome, published) = Self.outcome(of: request.token, evaluation)
            let commit = try transaction.say(published.map { .publish($0) } + [.outcome(outcome)])
            return .success(Decision(outcome: outcome, commit: commit))
        }
    }

    /// Sees to it that a request is not carried out any more, unless it has been: it then has an outcome either way.
    package func withdraw(
        _ token: MutationToken, job: JobID, now: ReceiveTime
    ) async throws -> (outcome: Outcome, commit: Commit?) {
        try await write(to: job, entersJob: true, now: { now }) { transaction in
            if let outcome = try transaction.job.outcome(of: token) { return (outcome, nil) }
            let (outcome, _) = Self.outcome(of: token, nil)
            return (outcome, try transaction.say([.outcome(outcome)]))
        }
    }

    /// Says in the channel how far each journal is held, as far as that has not been said.
    ///
    /// - Returns: nil when there is nothing to say.
    package func acknowledgeHeld(job: JobID, now: ReceiveTime) async throws -> Commit? {
        try await write(to: job, now: { now }) { transaction in
            let accepted = try transaction.job.accepted()
            let news = try transaction.job.positions().filter {
                $0.replica != .channel && $0.sequence > accepted[of: $0.replica]
            }
            guard !news.isEmpty else { return nil }
            let operations = stride(from: 0, to: news.count, by: ChangeLimits.positions).map {
                CRDT.Operation.acknowledge(Array(news[$0..<min($0 + ChangeLimits.positions, news.count)]))
            }
            return try transaction.say(operations)
        }
    }

    private static func outcome(of token: MutationToken, _ evaluation: MutationEvaluation?) -> (
        Outcome, [PublishedValue]
    ) {
        switch evaluation {
        case .accept(let published): return (Outcome(token: token, verdict: .accepted), published)
        case .reject(let reason):
            let short = String(decoding: Array(reason.utf8.prefix(Outcome.longestReason - 3)), as: UTF8.self)
            return (Outcome(token: token, verdict: .rejected, reason: short), [])
        case nil:
            return (Outcome(token: token, verdict: .withdrawn, reason: "It was taken back before it was decided."), [])
        }
    }

    /// Equal for equal requests of one job.
    private static func fingerprint(of request: MutationRequest, job: JobID) -> Data {
        let change = Change(item: .job, stamp: .zero, operations: [.request(request)])
        return Data(SHA256.hash(data: Data(job.text.utf8) + [0] + ChangeCodec.encode(change)))
    }
}

extension JobRows {
    fileprivate func isSettled(_ token: MutationToken) throws -> Bool {
        try outcome(of: token) != nil || isWithdrawn(token)
    }
}
