import CRDT
import Inventory
import LocalAPI
import LocalAPIServer
import Outbox
import Storage
import Synchronization

/// Requests that are sent again until their answer is heard.
///
/// What a request writes and that it has written it are of one transaction, so that nothing is doubled however the daemon ends;
/// the answer is kept after that. Whoever asks again in between gets the answer that the journal tells.
extension InventoryService {
    func once(
        _ keyed: KeyedRequest, _ carryOut: @Sendable (any MusterService) async throws -> APIAnswer
    ) async throws -> APIAnswer {
        let key = RequestKey(keyed.key, of: user, request: keyed.request, began: nowMilliseconds)
        guard underWay.begin(key) else {
            throw APIError(
                .requestUnderWay, "The request with this Idempotency-Key is being carried out: ask again in a moment.")
        }
        defer { underWay.end(key) }
        switch try await answering({ try await store.standing(of: key) }) {
        case nil: return try await perform(key, carryOut)
        case .answered(let answer): return APIAnswer(answer)
        case .another:
            throw APIError(
                .keyReused, "This Idempotency-Key is that of another request: draw a new one for each that is meant.")
        case .unanswered(let began, _) where keyed.isResumable:
            return try await perform(key.began(at: began), isResumed: true, carryOut)
        case .unanswered(_, let written):
            guard let written, let answer = try keyed.recover(try await answering { try await parts(written) }) else {
                throw APIError(
                    .answerLost,
                    "This request was carried out, but the daemon ended before it could answer: look at what it changed."
                )
            }
            try? await store.keep(KeptAnswer(answer), to: key)
            return answer
        }
    }

    private func perform(
        _ key: RequestKey, isResumed: Bool = false,
        _ carryOut: @Sendable (any MusterService) async throws -> APIAnswer
    ) async throws -> APIAnswer {
        var service = self
        (service.requestKey, service.isResumed) = (key, isResumed)
        let answer = try await carryOut(service)
        // It was carried out, and whoever asks again is told so, be the answer kept or not.
        try? await store.keep(KeptAnswer(answer), to: key)
        return answer
    }

    private func parts(_ written: WrittenRequest) async throws -> WrittenParts {
        var items: [ItemID] = []
        var known: Set<ItemID> = [.job]
        var removed: [ItemID] = []
        var replaces: String?
        var requests: [MutationRequest] = []
        for change in written.changes {
            if known.insert(change.item).inserted { items.append(change.item) }
            for operation in change.operations {
                switch operation {
                case .set(WellKnownField.replaces, let value, _): replaces = value
                case .remove: removed.append(change.item)
                case .request(let request): requests.append(request)
                default: break
                }
            }
        }
        return WrittenParts(
            job: written.job.text, items: items.map(\.description), replaces: replaces,
            tokens: requests.map(\.token.description),
            signedDigest: requests.compactMap { FlatJSON(parsing: $0.payload)?["digest"] }.last,
            removed: (try? await self.known(removed, in: written.job)) ?? [],
            amends: items.isEmpty ? nil : try? await amendedJob(written.job))
    }
}

/// Requests with a key that have not been answered.
final class RequestsUnderWay: Sendable {
    private struct Name: Hashable {
        let user: UInt32?
        let key: String
    }

    private let names = Mutex<Set<Name>>([])

    /// Whether it is not under way already.
    func begin(_ key: RequestKey) -> Bool {
        names.withLock { $0.insert(Name(user: key.user, key: key.text)).inserted }
    }

    func end(_ key: RequestKey) {
        names.withLock { _ = $0.remove(Name(user: key.user, key: key.text)) }
    }
}

extension APIAnswer {
    fileprivate init(_ answer: KeptAnswer) { self.init(status: answer.status, tag: answer.tag, body: answer.body) }
}

extension KeptAnswer {
    fileprivate init(_ answer: APIAnswer) { self.init(status: answer.status, tag: answer.tag, body: answer.body) }
}
