/// What a daemon answers to the local API: one method per operation.
///
/// `job` and `item` are as the caller wrote them: a job's id, a unique prefix of it or its exact name; an item's id, a
/// unique prefix of it or a barcode that one item has. Every method throws `APIError`; anything else that is thrown
/// reaches the caller as a failure of the daemon, without its text. What is returned by a writing method is durable
/// (rule R4).
package protocol MusterService: Sendable {
    func status() async throws -> Status
    func peers() async throws -> [PeerStatus]
    /// Dials the address now and goes on trying; does not wait for the connection.
    func addPeer(_ request: AddPeerRequest) async throws
    func clockReport() async throws -> ClockReport
    /// Looks at everything that the daemon depends on; does not throw for what it finds.
    func doctor() async throws -> DoctorReport

    /// Sorted by id.
    func jobs() async throws -> [JobListEntry]
    func createJob(_ request: CreateJobRequest) async throws -> Identified
    func job(_ job: String) async throws -> JobDetails
    /// Removes the whole job for good, on every device; asks for a confirmation unless that is given.
    func removeJob(_ job: String, isConfirmed: Bool) async throws -> Identified
    func summary(job: String) async throws -> VolumeReport
    func conflicts(job: String) async throws -> ConflictReport
    /// Takes one of the rival values of a field; `item` may be `job`.
    func settle(_ request: SettleRequest, job: String) async throws -> SettledConflict
    func check(job: String) async throws -> JobCheck
    /// The timeline, oldest first; of one item when `item` is given.
    func log(job: String, item: String?) async throws -> Batches<ChangeReport>
    func export(job: String, format: ExportFormat) async throws -> Chunks

    /// Asks the server for another state; before the first one, to open the job.
    func advance(_ request: AdvanceRequest, job: String) async throws -> QueuedTokens
    /// Asks the server to keep who signed for the inventory as it stands here.
    func signOff(_ request: SignOffRequest, job: String) async throws -> QueuedSignature
    /// What waits for the server, in the order in which it would go; then what it has rejected.
    func queue() async throws -> [QueueEntry]
    /// `token` is whole or a unique prefix, also in the following.
    func queued(_ token: String) async throws -> QueueEntry
    /// Tries it now.
    func retry(_ token: String) async throws -> QueueEntry
    /// Takes it back, or takes note that it was rejected.
    func drop(_ token: String) async throws -> QueueEntry
    func pause(_ request: LaneRequest) async throws -> QueueStatus
    func resume(_ request: LaneRequest) async throws -> QueueStatus
    /// The last attempts, oldest first.
    func attempts(limit: Int) async throws -> [QueueAttempt]

    /// Who takes part, sorted by replica id.
    func roster(job: String) async throws -> [RosterMember]
    /// Late work that nobody has decided on, in timeline order.
    func late(job: String) async throws -> [LateChange]
    /// Applies late work as new changes by this laptop.
    func acceptLate(_ decision: LateDecision, job: String) async throws -> LateOutcome
    func dropLate(_ decision: LateDecision, job: String) async throws -> LateOutcome

    /// Items that are not removed and match every filter, sorted by id.
    func items(job: String, matching filters: [FieldFilter]) async throws -> Batches<ItemView>
    func item(_ item: String, job: String) async throws -> ItemDetails
    func addItem(_ request: FieldsRequest, job: String) async throws -> Identified
    func addItems(_ batch: ItemBatch, job: String) async throws -> BatchReport
    func setFields(_ request: FieldsRequest, item: String, job: String) async throws -> Identified
    func addNote(_ request: NoteRequest, item: String, job: String) async throws -> Identified
    func removeItem(_ item: String, job: String) async throws -> Identified
    /// All or none; more than half of a job at once wants a confirmation.
    func removeItems(_ request: RemovalRequest, job: String) async throws -> Removed
    func restoreItem(_ item: String, job: String) async throws -> Restored

    /// What happens from now on, in one job or in all, of one type or of all; ends when the daemon stops. The stream must be subscribed when the
    /// method returns. A reader that is too slow loses the oldest `change` events, never the last `job` event of a job.
    func events(job: String?, type: EventType?) async throws -> AsyncStream<Event>
}

/// Canonical forms of a job's items: equal stores give equal bytes.
package enum ExportFormat: String, Codable, Hashable, Sendable, CaseIterable {
    case json
    case csv
}
