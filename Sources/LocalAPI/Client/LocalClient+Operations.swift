import NIOHTTP1

/// One method per operation; see `MusterService` for what each does.
extension LocalClient {
    package func status() async throws -> Status { try await call(.GET, ["status"]) }

    package func peers() async throws -> [PeerStatus] { try await call(.GET, ["peers"]) }

    package func addPeer(_ request: AddPeerRequest) async throws {
        let _: AddPeerRequest = try await call(.POST, ["peers"], body: request)
    }

    package func jobs() async throws -> [JobListEntry] { try await call(.GET, ["jobs"]) }

    package func createJob(_ request: CreateJobRequest) async throws -> Identified {
        try await call(.POST, ["jobs"], body: request)
    }

    package func job(_ job: String) async throws -> JobDetails { try await call(.GET, ["jobs", job]) }

    package func summary(job: String) async throws -> VolumeReport { try await call(.GET, ["jobs", job, "summary"]) }

    package func conflicts(job: String) async throws -> ConflictReport {
        try await call(.GET, ["jobs", job, "conflicts"])
    }

    package func check(job: String) async throws -> JobCheck { try await call(.GET, ["jobs", job, "check"]) }

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

    package func restoreItem(_ item: String, job: String) async throws -> Restored {
        try await call(.POST, ["jobs", job, "items", item, "restore"])
    }
}
