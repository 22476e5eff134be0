import LocalAPI

extension FakeService {
    static let members = [
        RosterMember(
            replicaID: replicaID, name: "anna-laptop", isOwn: true, since: moment, lastSeenAt: moment,
            isConnected: true, heardAt: moment, behind: 0),
        RosterMember(
            replicaID: otherReplicaID, name: "bert-laptop", since: moment, lastSeenAt: moment, heardAt: moment,
            behind: 1_234),
        RosterMember(replicaID: String(repeating: "3d", count: 16), behind: nil),
    ]

    func roster(job: String) async throws -> [RosterMember] {
        try check(job: job, allowed: true)
        return Self.members
    }

    static let lateChanges = zip([12, 14] as [UInt64], changes[1...2]).map { number, change in
        LateChange(id: "\(otherReplicaID):\(number)", by: otherReplicaID, byName: "bert-laptop", change: change)
    }

    func late(job: String) async throws -> [LateChange] {
        try check(job: job, allowed: true)
        return Self.lateChanges
    }

    func acceptLate(_ decision: LateDecision, job: String) async throws -> LateOutcome {
        try decide("accept", decision, job)
    }

    func dropLate(_ decision: LateDecision, job: String) async throws -> LateOutcome {
        try decide("drop", decision, job)
    }

    func removeJob(_ job: String, isConfirmed: Bool) async throws -> Identified {
        try check(job: job, allowed: true)
        guard isConfirmed else { throw APIError(.confirmationNeeded, "This removes a whole job: add --yes.") }
        note("remove the job")
        return Identified(id: Self.jobID)
    }

    private func decide(_ verb: String, _ decision: LateDecision, _ job: String) throws -> LateOutcome {
        try check(job: job, allowed: true)
        note("\(verb) " + decision.changes.map { "\($0.prefix(4))…\($0.suffix(3))" }.joined(separator: " "))
        return LateOutcome(changes: decision.changes.count, newJob: verb == "accept" ? Self.jobID : nil)
    }
}
