import LocalAPI

extension FakeService {
    static let members = [
        RosterMember(
            replicaID: replicaID, name: "anna-laptop", isOwn: true, since: moment, lastSeenAt: moment, behind: 0),
        RosterMember(
            replicaID: otherReplicaID, name: "bert-laptop", since: moment, lastSeenAt: moment, behind: 1_234),
        RosterMember(replicaID: String(repeating: "3d", count: 16), behind: 4, late: 2, isExpelled: true),
    ]

    func roster(job: String) async throws -> [RosterMember] {
        try check(job: job, allowed: true)
        return Self.members
    }

    func expel(_ replica: String, job: String) async throws -> RosterMember {
        try check(job: job, allowed: true)
        guard var member = Self.members.first(where: { $0.replicaID == replica }) else {
            throw APIError(.unknownReplica, "The roster has no \"\(replica)\": see 'muster job roster'.")
        }
        note("expel \(member.name ?? replica)")
        member.isExpelled = true
        return member
    }

    static let lateChanges = zip([12, 14] as [UInt64], changes[1...2]).map { last, change in
        LateChange(replicaID: otherReplicaID, name: "bert-laptop", last: last, change: change)
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
        let bounds = decision.upTo.sorted { $0.key < $1.key }
        note(verb + bounds.map { " \($0.key.prefix(4)) up to \($0.value)" }.joined())
        return LateOutcome(changes: Self.lateChanges.count, replicas: bounds.map(\.key), job: Self.jobID)
    }
}
