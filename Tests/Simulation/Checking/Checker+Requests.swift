import Authorship
import CRDT
import Inventory
import Outbox
import Storage

/// What journals say of requests, told the obvious way from the reference.
struct RequestStanding {
    private(set) var requests: [MutationToken: MutationRequest] = [:]
    private(set) var withdrawn: Set<MutationToken> = []
    /// With the place in the channel.
    private(set) var outcomes: [MutationToken: (place: Int, outcome: Outcome)] = [:]
    private(set) var published: [FieldName: String] = [:]
    /// Tokens that the channel speaks of more than once.
    private(set) var repeated: [MutationToken] = []

    init(_ reference: Reference, of job: JobID) {
        for (replica, entries) in reference.journals where replica != .channel {
            for entry in entries { take(entry.change, in: replica, of: job) }
        }
        var place = 0
        for entry in reference.journals[.channel] ?? [] {
            // What the server re-issues for others is not its word.
            guard entry.change.origin == nil else {
                take(entry.change, in: .channel, of: job)
                continue
            }
            for operation in entry.change.operations {
                place += 1
                switch operation {
                case .outcome(let outcome):
                    if outcomes[outcome.token] != nil { repeated.append(outcome.token) }
                    outcomes[outcome.token] = (place, outcome)
                case .publish(let value): published[value.name] = value.value
                default: break
                }
            }
        }
    }

    private mutating func take(_ change: Change, in journal: ReplicaID, of job: JobID) {
        for operation in change.operations {
            switch operation {
            // What its author has not signed counts for nothing.
            case .request(let request) where request.counts(in: journal, change, of: job):
                requests[request.token] = request
            case .withdraw(let token): withdrawn.insert(token)
            default: break
            }
        }
    }

    var pending: Set<MutationToken> {
        Set(requests.keys).subtracting(withdrawn).subtracting(outcomes.keys)
    }
}

extension MutationRequest {
    /// What its author has not signed, for this job and under the name that it stands under, counts for nothing.
    fileprivate func counts(in journal: ReplicaID, _ change: Change, of job: JobID) -> Bool {
        authorName == change.origin ?? journal && isSigned(for: job)
    }
}

extension Reference.Entry {
    /// What people read of it.
    func leavingOutForged(of job: JobID) -> Self {
        var change = change
        change.operations.removeAll { operation in
            guard case .request(let request) = operation else { return false }
            return !request.counts(in: replica, self.change, of: job)
        }
        return Self(replica: replica, first: first, change: change)
    }
}

/// Rule R8: each request has one effect, in its lane's order, and is shown until the server has answered.
extension Checker {
    /// What people ask for, or take back, is durable.
    func asked(_ added: [Reference.Entry], in job: JobID) {
        for entry in added {
            for operation in entry.change.operations {
                switch operation {
                // A laptop writes again what is on a branch that it cuts, and what is forged there with it.
                case .request(let request)
                where entry.change.origin == nil || request.counts(in: entry.replica, entry.change, of: job):
                    requests[job, default: [:]][request.token] = request
                case .withdraw(let token): withdrawn[job, default: []].insert(token)
                default: break
                }
            }
        }
    }

    /// After each word of the server's.
    func checkChannel(of server: Holder, _ job: JobID) throws {
        // What went with a removed job nobody can read any more.
        guard !server[job].isRemoved else { return }
        let standing = RequestStanding(server[job], of: job)
        if let token = standing.repeated.first { throw Violation("R8", "the server has decided \(token) twice.") }
        var withdrawn = standing.withdrawn
        // A server that was set back may have its words again before the journals in which requests were taken back.
        if forkable.contains(.channel) { withdrawn.formUnion(self.withdrawn[job] ?? []) }
        for (token, decided) in standing.outcomes {
            guard let after = requests[job]?[token]?.after, !withdrawn.contains(token), !withdrawn.contains(after)
            else { continue }
            guard let before = standing.outcomes[after], before.place < decided.place else {
                throw Violation("R8", "the server decided \(token) before \(after), which it follows in its lane.")
            }
        }
        // Accepted means carried out: a state follows from the one before.
        var state: JobState?
        for entry in server[job].journals[.channel] ?? [] where entry.change.origin == nil {
            for case .publish(let value) in entry.change.operations where value.name == .jobState {
                guard let next = JobState(rawValue: value.value), state?.allows(next) ?? (next == .scheduled) else {
                    throw Violation("R8", "the server published \(value.value) after \(state?.rawValue ?? "nothing").")
                }
                state = next
            }
        }
    }

    /// What a laptop shows of the server's part of a job: what was published with what is asked for, and nothing twice.
    func checkOverlay(
        of device: Holder, _ job: JobID, leavingOut notShown: Set<MutationToken> = []
    ) async throws {
        guard !device[job].isRemoved else { return }
        let standing = RequestStanding(device[job], of: job)
        let pending = Set(try await device.store.pendingRequests(of: job).map(\.request.token))
        guard pending == standing.pending else {
            let names = [pending, standing.pending].map { $0.sorted().map { "\($0)" }.joined(separator: " ") }
            throw Violation("R8", "\(device) has the requests \(names[0]) open, but open are \(names[1]).")
        }
        let overlay = try await device.store.overlay(of: job, leavingOut: notShown)
        guard overlay.published.values == standing.published else {
            throw Violation(
                "R8", "\(device) says that \(overlay.published.values) is published, not \(standing.published).")
        }
        if let token = overlay.pending.values.first(where: { !standing.pending.contains($0) }) {
            throw Violation("R8", "\(device) still shows \(token), which is settled.")
        }
        count(.overlay)
        if !pending.isEmpty { count(.pendingRequest, pending.count) }
    }

    /// The queue that a person reads, as it would be after a start: all that is asked for and not answered, and what the
    /// office refused.
    func checkQueue(of device: Holder) async throws {
        let entries = try await device.store.outboxStart().entries
        for (job, reference) in device.references.sorted(by: { $0.key < $1.key }) where !reference.isRemoved {
            let standing = RequestStanding(reference, of: job)
            let queued = entries.filter { $0.job == job }
            for entry in queued where entry.request != standing.requests[entry.request.token] {
                throw Violation(
                    "R8", "\(device) has another request \(entry.request.token) in its queue than was asked.")
            }
            let open = queued.map(\.request.token).filter { standing.outcomes[$0] == nil }
            guard Set(open) == standing.pending, open.count == standing.pending.count else {
                throw Violation("R8", "\(device) has \(open) in its queue, open are \(standing.pending).")
            }
        }
    }

    /// In the end everything is settled, and everybody knows it.
    ///
    /// - Parameter devices: with what each outbox does not show.
    func checkSettled(
        _ server: Holder, _ devices: [(holder: Holder, notShown: Set<MutationToken>)], _ job: JobID
    ) async throws {
        guard !server[job].isRemoved else { return }
        let standing = RequestStanding(server[job], of: job)
        let lost = (requests[job] ?? [:]).keys.sorted()
            .first { standing.outcomes[$0] == nil && !standing.withdrawn.contains($0) }
        if let lost {
            throw Violation("R8", "the request \(lost) was acknowledged and the server knows nothing of it.")
        }
        for (device, notShown) in devices {
            try await checkOverlay(of: device, job, leavingOut: notShown)
            let overlay = try await device.store.overlay(of: job, leavingOut: notShown)
            guard overlay.shown == overlay.published else {
                throw Violation("R8", "\(device) shows \(overlay.shown.values) and not what is published.")
            }
        }
    }
}
