import NIOHTTP1

/// One method per operation; see `MusterService` for what each does.
extension LocalClient {
    /// `GET /v1/status`: 200.
    package func status() async throws -> Status { try await call(.GET, ["status"]) }

    /// `GET /v1/peers`: 200, connected devices first.
    package func peers() async throws -> [PeerStatus] { try await call(.GET, ["peers"]) }

    /// `POST /v1/peers`: 202 before there is a connection; 422 for what is no address.
    package func addPeer(_ request: AddPeerRequest) async throws -> AddPeerRequest {
        try await call(.POST, ["peers"], body: request)
    }

    /// `DELETE /v1/peers/{address}`: 200; 404 for one that nobody has named, 422 for one of the configuration.
    package func removePeer(_ address: String) async throws -> AddPeerRequest {
        try await call(.DELETE, ["peers", address])
    }

    /// `GET /v1/metrics`: 200, in an order that stays.
    package func metrics() async throws -> [Metric] { try await call(.GET, ["metrics"]) }

    /// `GET /v1/addresses`: 200, the likeliest first.
    package func ownAddresses() async throws -> [OwnAddress] { try await call(.GET, ["addresses"]) }

    /// `GET /v1/clock`: 200.
    package func clock() async throws -> ClockReport { try await call(.GET, ["clock"]) }

    /// `GET /v1/catalogue`: 200, in the order of the usual cube sheet.
    package func catalogue() async throws -> [CategoryView] { try await call(.GET, ["catalogue"]) }

    /// `GET /v1/session`: 200.
    package func session() async throws -> SessionReport { try await call(.GET, ["session"]) }

    /// `POST /v1/session`: 200; 422 for a name that the crew's list has not.
    package func beginSession(_ request: BeginSessionRequest) async throws -> SessionReport {
        try await call(.POST, ["session"], body: request)
    }

    /// `DELETE /v1/session`: 200, also where there was none.
    package func endSession() async throws -> SessionReport { try await call(.DELETE, ["session"]) }

    /// `GET /v1/crew`: 200.
    package func crew() async throws -> CrewReport { try await call(.GET, ["crew"]) }

    /// `GET /v1/fleet`: 200.
    package func fleet() async throws -> FleetStatus { try await call(.GET, ["fleet"]) }

    /// `PUT /v1/fleet`: 200; 422 for certificates that do not fit this laptop.
    package func installCertificates(_ pem: String) async throws -> FleetStatus {
        try await call(.PUT, ["fleet"], body: FleetCertificates(certificates: pem))
    }

    /// `POST /v1/fleet/certificates`: 201; 403 where this laptop may not, 422 for what is no request.
    package func signCertificate(_ request: SignCertificateRequest) async throws -> FleetCertificates {
        try await call(.POST, ["fleet", "certificates"], body: request)
    }

    /// `GET /v1/fleet/devices`: 200.
    package func fleetDevices() async throws -> [FleetDevice] { try await call(.GET, ["fleet", "devices"]) }

    /// `POST /v1/fleet/revocations`: 201, everybody who was shut out; 403 where this laptop may not.
    package func revoke(_ request: RevocationRequest) async throws -> [FleetDevice] {
        try await call(.POST, ["fleet", "revocations"], body: request)
    }

    /// `POST /v1/fleet/invitations`: 201; 403 where this laptop may not.
    package func openInvitation(_ request: InvitationRequest) async throws -> InvitationStatus {
        try await call(.POST, ["fleet", "invitations"], body: request)
    }

    /// `GET /v1/fleet/invitations/{invitation}`: 200; 422 for one that there is not.
    package func invitation(_ name: String) async throws -> InvitationStatus {
        try await call(.GET, ["fleet", "invitations", name])
    }

    /// `PUT /v1/fleet/invitations/{invitation}`: 200; 422 when that laptop does not wait.
    package func admit(_ request: AdmissionRequest, to invitation: String) async throws -> InvitationStatus {
        try await call(.PUT, ["fleet", "invitations", invitation], body: request)
    }

    /// `DELETE /v1/fleet/invitations/{invitation}`: 200.
    package func withdrawInvitation(_ name: String) async throws -> InvitationStatus {
        try await call(.DELETE, ["fleet", "invitations", name])
    }

    /// `POST /v1/fleet/join`: 202 before anybody was found; 422 for what is no code.
    package func join(_ request: JoinRequest) async throws -> JoinStatus {
        try await call(.POST, ["fleet", "join"], body: request)
    }

    /// `GET /v1/fleet/join`: 200.
    package func joinStatus() async throws -> JoinStatus { try await call(.GET, ["fleet", "join"]) }

    /// `DELETE /v1/fleet/join`: 200.
    package func endJoin() async throws -> JoinStatus { try await call(.DELETE, ["fleet", "join"]) }

    /// `DELETE /v1/fleet`: 200; 422 for a laptop without a fleet.
    package func leaveFleet() async throws -> FleetStatus { try await call(.DELETE, ["fleet"]) }

    /// `GET /v1/doctor`: 200, also when checks have failed.
    package func doctor() async throws -> DoctorReport { try await call(.GET, ["doctor"]) }

    /// `GET /v1/jobs`: 200, ascending by id; a removed job only while it has late work.
    ///
    /// - Parameter name: only jobs that are called so.
    package func jobs(named name: String? = nil) async throws -> [JobListEntry] {
        try await call(.GET, ["jobs"], query: name.map { [("name", $0)] } ?? [])
    }

    /// `POST /v1/jobs`: 201; 409 `jobExists`, 422 for a name or an id that cannot be.
    package func createJob(_ request: CreateJobRequest) async throws -> Identified {
        try await call(.POST, ["jobs"], body: request)
    }

    /// `GET /v1/jobs/{job}`: 200; 404 `unknownJob` or 409 `ambiguousJob`, as wherever a job is named.
    ///
    /// - Parameter makesDigest: else the answer comes at once, and has a digest only if it was made since the last change.
    package func job(_ job: String, makesDigest: Bool = false) async throws -> JobDetails {
        try await call(.GET, ["jobs", job], query: makesDigest ? [] : [("digest", "known")])
    }

    /// The same, and the job's tag with its quotes.
    package func taggedJob(_ job: String) async throws -> (job: JobDetails, tag: String?) {
        let response = try await send(.GET, ["jobs", job], query: [("digest", "known")])
        return (try decoded(response), response.headers.first(name: "ETag"))
    }

    /// `GET /v1/jobs/{job}/summary`: 200; 503 while the inventory changes all the time.
    package func summary(job: String) async throws -> VolumeReport { try await call(.GET, ["jobs", job, "summary"]) }

    /// `GET /v1/jobs/{job}/amendments`: 200.
    package func amendments(job: String) async throws -> AmendmentReport {
        try await call(.GET, ["jobs", job, "amendments"])
    }

    /// `GET /v1/jobs/{job}/conflicts`: 200.
    package func conflicts(job: String) async throws -> ConflictReport {
        try await call(.GET, ["jobs", job, "conflicts"])
    }

    /// `POST /v1/jobs/{job}/conflicts`: 200; 404 `unknownRival`, 409 `noConflict` or `rivalsChanged`.
    package func settle(_ request: SettleRequest, job: String) async throws -> SettledConflict {
        try await call(.POST, ["jobs", job, "conflicts"], body: request)
    }

    /// `GET /v1/jobs/{job}/check`: 200; other devices have ten seconds to answer.
    package func check(job: String) async throws -> JobCheck { try await call(.GET, ["jobs", job, "check"]) }

    /// `PATCH /v1/jobs/{job}`: 200; 409 `jobRemoved`, 422 for a name that cannot be.
    package func renameJob(_ request: RenameJobRequest, job: String) async throws -> Identified {
        try await call(.PATCH, ["jobs", job], body: request)
    }

    /// `DELETE /v1/jobs/{job}`: 200; 409 `confirmationNeeded` unless `isConfirmed`, 409 `jobRemoved` a second time.
    ///
    /// - Parameter tag: of the job: it is not removed where it is not that any more (412 `preconditionFailed`).
    package func removeJob(_ job: String, isConfirmed: Bool, ifMatch tag: String? = nil) async throws -> Identified {
        try await call(
            .DELETE, ["jobs", job], query: isConfirmed ? [("confirmed", "true")] : [],
            headers: tag.map { [("If-Match", $0)] } ?? [])
    }

    /// `POST /v1/jobs/{job}/state`: 202; 422 for a state that cannot follow, 409 `jobRemoved`.
    package func advance(_ request: AdvanceRequest, job: String) async throws -> QueuedTokens {
        try await call(.POST, ["jobs", job, "state"], body: request)
    }

    /// `POST /v1/jobs/{job}/signature`: 202; 422 for another inventory or state of the job, 409 `jobRemoved`.
    package func signOff(_ request: SignOffRequest, job: String) async throws -> QueuedSignature {
        try await call(.POST, ["jobs", job, "signature"], body: request)
    }

    /// `GET /v1/queue`: 200, in the order in which mutations would go; rejected ones last.
    package func queue() async throws -> [QueueEntry] { try await call(.GET, ["queue"]) }

    /// `GET /v1/queue/{token}`: 200, also of a finished one; 404 `unknownMutation`, 409 `ambiguousMutation`.
    package func queued(_ token: String) async throws -> QueueEntry { try await call(.GET, ["queue", token]) }

    /// `POST /v1/queue/{token}/retry`: 200; 409 `mutationSettled` for one that is rejected or finished.
    package func retry(_ token: String) async throws -> QueueEntry {
        try await call(.POST, ["queue", token, "retry"])
    }

    /// `DELETE /v1/queue/{token}`: 200 as it stood; 409 `mutationSettled` once answered, or another device's.
    package func drop(_ token: String) async throws -> QueueEntry { try await call(.DELETE, ["queue", token]) }

    /// `POST /v1/queue/pause`: 200 with the counts that follow; 422 for what is no lane of the job.
    package func pause(_ request: LaneRequest) async throws -> QueueStatus {
        try await call(.POST, ["queue", "pause"], body: request)
    }

    /// `POST /v1/queue/resume`: 200 with the counts that follow; 422 for one lane while everything is paused.
    package func resume(_ request: LaneRequest) async throws -> QueueStatus {
        try await call(.POST, ["queue", "resume"], body: request)
    }

    /// `GET /v1/queue/log`: 200, oldest first; 400 for a limit that is not from 1 to 10,000.
    package func attempts(limit: Int) async throws -> [QueueAttempt] {
        try await call(.GET, ["queue", "log"], query: [("limit", String(limit))])
    }

    /// `GET /v1/jobs/{job}/assignments`: 200.
    package func assignment(job: String) async throws -> JobAssignment {
        try await call(.GET, ["jobs", job, "assignments"])
    }

    /// `POST /v1/jobs/{job}/assignments`: 200; 403 where this laptop may not, 422 where a laptop is not known.
    package func assign(_ request: AssignmentRequest, job: String) async throws -> JobAssignment {
        try await call(.POST, ["jobs", job, "assignments"], body: request)
    }

    /// `GET /v1/jobs/{job}/roster`: 200, ascending by replica id.
    package func roster(job: String) async throws -> [RosterMember] { try await call(.GET, ["jobs", job, "roster"]) }

    /// `GET /v1/jobs/{job}/late`: 200, in timeline order; empty as long as the job lives.
    package func late(job: String) async throws -> [LateChange] { try await call(.GET, ["jobs", job, "late"]) }

    /// `POST /v1/jobs/{job}/late/accept`: 200; 404 `unknownChange`, and nothing is accepted.
    package func acceptLate(_ decision: LateDecision, job: String) async throws -> LateOutcome {
        try await call(.POST, ["jobs", job, "late", "accept"], body: decision)
    }

    /// `POST /v1/jobs/{job}/late/drop`: 200; 404 `unknownChange`, and nothing is dropped.
    package func dropLate(_ decision: LateDecision, job: String) async throws -> LateOutcome {
        try await call(.POST, ["jobs", job, "late", "drop"], body: decision)
    }

    /// `GET /v1/jobs/{job}/items/{item}`: 200, also of a removed one; 404 `unknownItem`, 409 `ambiguousItem`.
    package func item(_ item: String, job: String) async throws -> ItemDetails {
        try await call(.GET, ["jobs", job, "items", item])
    }

    /// `POST /v1/jobs/{job}/items`: 201; 422 for a name or value that cannot be, or that is doubted unless `isForced`; 409
    /// `jobRemoved`.
    package func addItem(_ request: FieldsRequest, job: String, isForced: Bool = false) async throws -> Identified {
        try await call(.POST, ["jobs", job, "items"], query: Self.forced(isForced), body: request)
    }

    /// `POST /v1/jobs/{job}/import`: 200, also where items are rejected; 413 for more than `ItemBatch.largest`.
    package func addItems(_ batch: ItemBatch, job: String, isForced: Bool = false) async throws -> BatchReport {
        try await call(.POST, ["jobs", job, "import"], query: Self.forced(isForced), body: batch)
    }

    /// `PATCH /v1/jobs/{job}/items/{item}`: 200; 409 `itemRemoved`, 422 as with `addItem`.
    package func setFields(
        _ request: FieldsRequest, item: String, job: String, isForced: Bool = false
    ) async throws -> Identified {
        try await call(.PATCH, ["jobs", job, "items", item], query: Self.forced(isForced), body: request)
    }

    private static func forced(_ isForced: Bool) -> [(String, String)] { isForced ? [("force", "true")] : [] }

    /// `POST /v1/jobs/{job}/items/{item}/notes`: 201; 409 `itemRemoved`, 422 for a text that cannot be.
    package func addNote(_ request: NoteRequest, item: String, job: String) async throws -> Identified {
        try await call(.POST, ["jobs", job, "items", item, "notes"], body: request)
    }

    /// `DELETE /v1/jobs/{job}/items/{item}`: 200; 409 `itemRemoved` a second time.
    package func removeItem(_ item: String, job: String) async throws -> Identified {
        try await call(.DELETE, ["jobs", job, "items", item])
    }

    /// `POST /v1/jobs/{job}/removals`: 200; 409 `confirmationNeeded` for 20 or more that are over half of the job.
    ///
    /// - Parameter tag: of the job: nothing is removed where it is not that any more (412 `preconditionFailed`).
    package func removeItems(_ request: RemovalRequest, job: String, ifMatch tag: String? = nil) async throws -> Removed
    {
        try await call(.POST, ["jobs", job, "removals"], body: request, headers: tag.map { [("If-Match", $0)] } ?? [])
    }

    /// `POST /v1/jobs/{job}/removals?preview=true`: 200 with what would be removed, and the job's tag with its quotes.
    package func previewRemoval(_ request: RemovalRequest, job: String) async throws -> (removed: Removed, tag: String?)
    {
        let path = ["jobs", job, "removals"]
        let response = try await send(.POST, path, query: [("preview", "true")], body: request)
        return (try decoded(response), response.headers.first(name: "ETag"))
    }

    /// `POST /v1/jobs/{job}/items/{item}/restore`: 201, or 200 where it is back already; 409 `itemNotRemoved`.
    package func restoreItem(_ item: String, job: String) async throws -> Restored {
        try await call(.POST, ["jobs", job, "items", item, "restore"])
    }
}
