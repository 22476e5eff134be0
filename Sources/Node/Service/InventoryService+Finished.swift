import CRDT
import Engine
import HTTPCoding
import Inventory
import LocalAPI
import Outbox
import Storage

/// What was asked of the server before, found by its token, and the attempts to deliver it.
extension InventoryService {
    func attempts(limit: Int) async throws -> [QueueAttempt] {
        try await answering {
            var wishes: [MutationToken: RequestHistory] = [:]
            var names: [JobID: String] = [:]
            var attempts: [QueueAttempt] = []
            for logged in try await store.attempts(last: limit) {
                let event = logged.event
                if wishes[event.token] == nil {
                    wishes[event.token] =
                        try await store.requests(withTokenPrefix: event.token.description, limit: 1).first
                }
                let asked = wishes[event.token]
                if let job = asked?.job, names[job] == nil { names[job] = try? await store.job(job).name }
                attempts.append(
                    QueueAttempt(
                        token: event.token.description,
                        wish: asked.map { MutationKinds.all.sentence(for: $0.stored.request) }, job: asked?.job.text,
                        jobName: asked.flatMap { names[$0.job] }, attempt: event.attempt,
                        at: Timestamp(milliseconds: Int64(clamping: logged.at)),
                        durationMilliseconds: Int(clamping: event.durationMilliseconds),
                        outcome: event.outcome.rawValue, status: event.status, detail: event.detail,
                        nextAttemptAt: logged.next.map { Timestamp(milliseconds: Int64(clamping: $0)) }))
            }
            return attempts
        }
    }

    /// What waits under a token or the beginning of one; nil when nothing does.
    func waiting(_ text: String) async throws -> QueuedMutation? {
        let wanted = text.lowercased()
        let fitting = await outbox.queue.filter { $0.entry.token.description.begins(with: wanted) }
        guard let first = fitting.first else { return nil }
        guard fitting.count == 1 else { throw ambiguous(text, fitting.map(\.entry.token)) }
        return first
    }

    /// - Throws: `APIError` when nothing waits under the token, with what became of it if it is known.
    func find(_ text: String) async throws -> QueuedMutation {
        guard text.utf8.count >= 4 else {
            throw APIError(
                .unknownMutation, "'\(text)' is too little of a token; write four characters of it at least.")
        }
        if let queued = try await waiting(text) { return queued }
        let known = try await finished(text)
        guard known.outcome == nil, !known.isWithdrawn else {
            throw APIError(
                .mutationSettled,
                "The request \(known.stored.request.token.description.prefix(8)) is finished; 'muster queue show' tells what came of it."
            )
        }
        throw unknown(text)
    }

    func finished(_ text: String) async throws -> RequestHistory {
        let fitting = try await store.requests(withTokenPrefix: text, limit: 9)
        guard let first = fitting.first else { throw unknown(text) }
        guard fitting.count == 1 else { throw ambiguous(text, fitting.map(\.stored.request.token)) }
        return first
    }

    func describe(_ known: RequestHistory) async -> QueueEntry {
        let request = known.stored.request
        let author = known.stored.write.author
        let job = try? await store.job(known.job)
        let state: QueueEntry.State =
            switch known.outcome?.verdict {
            case .accepted: .accepted
            case .rejected: .rejected
            case .withdrawn: .withdrawn
            case nil: known.isWithdrawn ? .withdrawn : .waiting
            }
        let reason = known.outcome?.reason ?? ""
        return QueueEntry(
            token: request.token.description, lane: LaneID(job: known.job, name: request.lane).description,
            priority: Int(request.priority), kind: request.kind, job: known.job.text, jobName: job?.name,
            wish: MutationKinds.all.sentence(for: request), isOwn: author == store.identity.replica,
            askedBy: job?.properties.value(of: JobProperty.author(author)), state: state, attempts: known.attempts,
            lastError: reason.isEmpty ? nil : reason,
            createdAt: Timestamp(milliseconds: Int64(clamping: known.stored.write.stamp.milliseconds)),
            decidedAt: known.decided.map { Timestamp(milliseconds: Int64(clamping: $0)) })
    }

    private func unknown(_ text: String) -> APIError {
        APIError(
            .unknownMutation,
            "No request '\(text)' is known here; 'muster queue list' and 'muster queue log' show their tokens.")
    }

    private func ambiguous(_ text: String, _ fitting: [MutationToken]) -> APIError {
        APIError(
            .ambiguousMutation, "'\(text)' fits \(fitting.count) requests; write more of the token.",
            candidates: fitting.map(\.description))
    }
}

extension Store {
    /// What was asked for under the tokens that the server decides on, for people; without those that are not here.
    func wishes(_ decisions: [TimelineEntry.Decision], in job: JobID) async -> [MutationToken: String] {
        var wishes: [MutationToken: String] = [:]
        for decision in decisions {
            let token: MutationToken
            switch decision {
            case .decided(let outcome): token = outcome.token
            case .withdrew(let withdrawn): token = withdrawn
            default: continue
            }
            if let asked = try? await request(token, job: job) {
                wishes[token] = MutationKinds.all.sentence(for: asked.request)
            }
        }
        return wishes
    }
}
