import CRDT
import Engine
import Inventory
import LocalAPI
import Storage

/// Work on a job that was removed meanwhile, and what a revoked laptop wrote that does not count.
extension InventoryService {
    func late(job text: String) async throws -> [LocalAPI.LateChange] {
        try await answering {
            let job = try await resolve(job: text, preferring: .late)
            let changes = try await store.lateChanges(of: job.id)
            let sessions = try await store.workSessions(of: job.id)
            let reporter = ChangeReporter(job: job)
            var labels = changes.givenNames
            for (item, label) in try await store.labels(of: Set(changes.map(\.change.item)), in: job.id) {
                labels[item] = label
            }
            return changes.map { late in
                LocalAPI.LateChange(
                    id: late.dot.text, by: late.author.description, byName: Self.hostName(of: late.author, in: job),
                    change: reporter.report(late, label: labels[late.change.item], sessions))
            }
        }
    }

    func acceptLate(_ decision: LateDecision, job: String) async throws -> LateOutcome {
        try await decide(decision, job: job) { dots, job in
            try await store.acceptLate(dots, of: job, now: clock.now, by: writer())
        }
    }

    func dropLate(_ decision: LateDecision, job: String) async throws -> LateOutcome {
        try await decide(decision, job: job) { dots, job in
            [try await store.dropLate(dots, of: job, now: clock.now, by: writer())].compactMap(\.self)
        }
    }

    private func decide(
        _ decision: LateDecision, job text: String, _ carryOut: ([Dot], JobID) async throws -> [Commit]
    ) async throws -> LateOutcome {
        try await answering {
            let job = try await resolve(job: text, preferring: .late)
            let dots = try Set(
                decision.changes.map { text in
                    guard let dot = Dot(text: text) else {
                        throw APIError(
                            .unknownChange, "'\(text)' is no change; 'muster job late' lists those that wait.")
                    }
                    return dot
                })
            var outcome = LateOutcome(changes: dots.count)
            let commits = try await carryOut(dots.sorted(), job.id)
            outcome.newJob = commits.first { $0.job != job.id }?.job.text
            return outcome
        }
    }
}

extension [QuarantinedChange] {
    /// What they call items that nobody here has had: the last name of each.
    fileprivate var givenNames: [ItemID: String] {
        reduce(into: [:]) { names, late in
            for case .set(WellKnownField.name, let name, _) in late.change.operations where !name.isEmpty {
                names[late.change.item] = name
            }
        }
    }
}

extension Dot {
    /// As the API writes it: REPLICA:SEQUENCE.
    fileprivate var text: String { "\(replica):\(sequence)" }

    fileprivate init?(text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let replica = ReplicaID(parts[0]), let sequence = UInt64(parts[1]) else { return nil }
        self.init(replica: replica, sequence: sequence)
    }
}
