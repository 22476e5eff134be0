import NIOHTTP1

/// One method per operation; see `MusterService` for what each does.
extension LocalClient {
    package func status() async throws -> Status { try await call(.GET, ["status"]) }

    package func peers() async throws -> [PeerStatus] { try await call(.GET, ["peers"]) }

    package func addPeer(_ request: AddPeerRequest) async throws {
        let _: AddPeerRequest = try await call(.POST, ["peers"], body: request)
    }

    package func clock() async throws -> ClockReport { try await call(.GET, ["clock"]) }

    package func doctor() async throws -> DoctorReport { try await call(.GET, ["doctor"]) }

    package func jobs() async throws -> [JobListEntry] { try await call(.GET, ["jobs"]) }

    package func createJob(_ request: CreateJobRequest) async throws -> Identified {
        try await call(.POST, ["jobs"], body: request)
    }

    package func job(_ job: String) async throws -> JobDetails { try await call(.GET, ["jobs", job]) }

    package func summary(job: String) async throws -> VolumeReport { try await call(.GET, ["jobs", job, "summary"]) }

    package func conflicts(job: String) async throws -> ConflictReport {
        try await call(.GET, ["jobs", job, "conflicts"])
    }

    package func settle(_ request: SettleRequest, job: String) async throws -> SettledConflict {
        try await call(.POST, ["jobs", job, "conflicts"], body: request)
    }

    package func check(job: String) async throws -> JobCheck { try await call(.GET, ["jobs", job, "check"]) }

    package func removeJob(_ job: String, isConfirmed: Bool) async throws -> Identified {
        try await call(.DELETE, ["jobs", job], query: isConfirmed ? [("confirmed", "true")] : [])
    }

    package func advance(_ request: AdvanceRequest, job: String) async throws -> QueuedTokens {
        try await call(.POST, ["jobs", job, "state"], body: request)
    }

    package func signOff(_ request: SignOffRequest, job: String) async throws -> QueuedSignature {
        try await call(.POST, ["jobs", job, "signature"], body: request)
    }

    package func queue() async throws -> [QueueEntry] { try await call(.GET, ["queue"]) }

    package func queued(_ token: String) async throws -> QueueEntry { try await call(.GET, ["queue", token]) }

    package func retry(_ token: String) async throws -> QueueEntry {
        try await call(.POST, ["queue", token, "retry"])
    }

    package func drop(_ token: String) async throws -> QueueEntry { try await call(.DELETE, ["queue", token]) }

    package func pause(_ request: LaneRequest) async throws -> QueueStatus {
        try await call(.POST, ["queue", "pause"], body: request)
    }

    package func resume(_ request: LaneRequest) async throws -> QueueStatus {
        try await call(.POST, ["queue", "resume"], body: request)
    }

    package func attempts(limit: Int) async throws -> [QueueAttempt] {
        try await call(.GET, ["queue", "log"], query: [("limit", String(limit))])
    }

    package func roster(job: String) async throws -> [RosterMember] { try await call(.GET, ["jobs", job, "roster"]) }

    package func late(job: String) async throws -> [LateChange] { try await call(.GET, ["jobs", job, "late"]) }

    package func acceptLate(_ decision: LateDecision, job: String) async throws -> LateOutcome {
        try await call(.POST, ["jobs", job, "late", "accept"], body: decision)
    }

    package func dropLate(_ decision: LateDecision, job: String) async throws -> LateOutcome {
        try await call(.POST, ["jobs", job, "late", "drop"], body: decision)
    }

    package func item(_ item: String, job: String) async throws -> ItemDetails {
        try await call(.GET, ["jobs", job, "items", item])
    }

    package func addItem(_ request: FieldsRequest, job: String) async throws -> Identified {
        try await call(.POST, ["jobs", job, "items"], body: request)
    }

    package func addItems(_ batch: ItemBatch, job: String) async throws -> BatchReport {
        try await call(.POST, ["jobs", job, "import"], body: batch)
    }

    package func setFields(_ request: FieldsRequest, item: String, job: String) async throws -> Identified {
        try await call(.PATCH, ["jobs", job, "items", item], body: request)
    }

    package func addNote(_ request: NoteRequest, item: String, job: String) async throws -> Identified {
        try await call(.POST, ["jobs", job, "items", item, "notes"], body: request)
    }

    package func removeItem(_ item: String, job: String) async throws -> Identified {
        try await call(.DELETE, ["jobs", job, "items", item])
    }

    package func removeItems(_ request: RemovalRequest, job: String) async throws -> Removed {
        try await call(.POST, ["jobs", job, "removals"], body: request)
    }

    package func restoreItem(_ item: String, job: String) async throws -> Restored {
        try await call(.POST, ["jobs", job, "items", item, "restore"])
    }
}
