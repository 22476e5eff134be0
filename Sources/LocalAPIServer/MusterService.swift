package import LocalAPI

/// What a daemon answers to the local API: one method per operation.
///
/// `job` and `item` are as the caller wrote them: a job's id, a unique beginning or end of it or its exact name, each of a living
/// job before a removed one; an item's id, a unique beginning or end of it or a barcode that one item has. Every method throws
/// `APIError`; anything else that is thrown reaches the caller as a failure of the daemon, without its text. What is returned by a
/// writing method is durable (rule R4).
package protocol MusterService: Sendable {
    /// The same service for one caller: what is written through it is of whoever has a session there.
    func serving(_ caller: LocalCaller) -> any MusterService
    /// Carries a request out once, however often it is sent: who sends it again gets the first answer.
    ///
    /// - Parameter carryOut: gets the service through which what is written is known again.
    /// - Throws: what `carryOut` throws, which is not kept; `keyReused`, `requestUnderWay`, `answerLost`.
    func once(
        _ keyed: KeyedRequest, _ carryOut: @Sendable (any MusterService) async throws -> APIAnswer
    ) async throws -> APIAnswer
    /// - Throws: `notPermitted` where the fleet lets this laptop look only.
    func checkThatItWrites() throws
    /// Who is at this laptop as the user of the machine who asks.
    func sessionReport() async throws -> SessionReport
    /// Begins that user's session, in the place of one that goes on; `invalidValue` for a name that the crew's list has not.
    func beginSession(_ request: BeginSessionRequest) async throws -> SessionReport
    /// Ends that user's session, if there is one.
    func endSession() async throws -> SessionReport
    /// The crew's list, and who is at this laptop.
    func crew() async throws -> CrewReport
    /// This device at a glance.
    func status() async throws -> Status
    /// Connected devices first, then one entry for each other device or address that is known.
    func peers() async throws -> [PeerStatus]
    /// Dials the address now and goes on trying; does not wait for the connection. `invalidValue` for what is no address.
    func addPeer(_ request: AddPeerRequest) async throws -> AddPeerRequest
    /// Dials it no more, now and after a restart; `invalidValue` where it stands in the configuration, `notFound` where nobody has named it.
    func removePeer(_ address: String) async throws -> AddPeerRequest
    /// Where others reach this laptop, the likeliest first; nothing while it listens nowhere.
    func ownAddresses() async throws -> [OwnAddress]
    /// Numbers about the daemon; what nobody knows at the moment is left out.
    func metrics() async throws -> [Metric]
    /// By what others can carry journals to this laptop.
    func carryCard() async throws -> CarryCard
    /// Who of these can be carried to; `notPermitted` for one that was revoked.
    func carryRecipients(_ request: CarryRecipientsRequest) async throws -> [CarryRecipient]
    /// Everything that a connection would tell one laptop that holds nothing, encrypted to it.
    func carryOut(_ request: CarryOutRequest) async throws -> Chunks
    /// Takes such a file in while it comes, by the rules of a connection. `invalidValue` where nothing of it could be looked at.
    func carryIn(_ upload: Upload) async throws -> CarryReport
    /// What the daemon knows of itself, for a report.
    func diagnostics() async throws -> Diagnostics
    /// How this device tells the time, and what is stamped later than it can be (rule R6).
    func clockReport() async throws -> ClockReport
    /// This laptop's place in a fleet.
    func fleetStatus() async throws -> FleetStatus
    /// Takes up what an issuer or the root has made for this laptop; `invalidValue` for anything else.
    func installCertificates(_ request: FleetCertificates) async throws -> FleetStatus
    /// Makes a certificate for another laptop; `invalidValue` where this one may not.
    func signCertificate(_ request: SignCertificateRequest) async throws -> FleetCertificates
    /// The fleet's laptops that are known here, and those that were shut out.
    func fleetDevices() async throws -> [FleetDevice]
    /// Shuts a laptop out for good; `invalidValue` where this one may not, or nobody who may has signed it.
    func revoke(_ request: RevocationRequest) async throws -> [FleetDevice]
    /// Opens an invitation; `notPermitted` where this laptop may not.
    func openInvitation(_ request: InvitationRequest) async throws -> InvitationStatus
    /// How an invitation stands; `invalidValue` for one that there is not.
    func invitation(_ name: String) async throws -> InvitationStatus
    /// Lets in the laptop that waits; `invalidValue` for another one.
    func admit(_ request: AdmissionRequest, to invitation: String) async throws -> InvitationStatus
    /// Takes an invitation back, unless somebody has joined by it.
    func withdrawInvitation(_ name: String) async throws -> InvitationStatus
    /// Begins to join by a code; `invalidValue` for what is no code, or within a fleet.
    func join(_ request: JoinRequest) async throws -> JoinStatus
    /// How far joining has come.
    func joinStatus() async throws -> JoinStatus
    /// Gives up joining.
    func endJoin() async throws -> JoinStatus
    /// Gives up the laptop's place in its fleet, and closes its connections.
    func leaveFleet() async throws -> FleetStatus
    /// Looks at everything that the daemon depends on; does not throw for what it finds.
    func doctor() async throws -> DoctorReport

    /// Ascending by id; a removed job as long as it has late work.
    ///
    /// - Parameter name: only jobs that are called so.
    func jobs(named name: String?) async throws -> [JobListEntry]
    /// Makes a job, and asks the server to open it where one is configured.
    func createJob(_ request: CreateJobRequest) async throws -> Identified
    /// One job, removed or not. Without `makesDigest` it has a digest only if somebody has made it since the last change.
    func job(_ job: String, makesDigest: Bool) async throws -> JobDetails
    /// Calls a job something else, for everybody: of two names that did not know each other the later one counts (rule R1).
    func renameJob(_ request: RenameJobRequest, job: String) async throws -> Identified
    /// Removes the whole job for good, on every device; asks for a confirmation unless that is given.
    func removeJob(_ job: String, isConfirmed: Bool) async throws -> Identified
    /// Adds up the items that are not removed; `unavailable` while they change all the time.
    func summary(job: String) async throws -> VolumeReport
    /// Concurrent edits and duplicate barcodes, and fields that were written from the future.
    func conflicts(job: String) async throws -> ConflictReport
    /// Takes one of the rival values of a field; `item` may be `job`.
    func settle(_ request: SettleRequest, job: String) async throws -> SettledConflict
    /// Compares digests with every connected device, which has ten seconds to answer.
    func check(job: String) async throws -> JobCheck
    /// The timeline, oldest first; of one item when `item` is given.
    func log(job: String, item: String?) async throws -> Batches<ChangeReport>
    /// The canonical export of the store as it is when this is called (rule R3).
    func export(job: String, format: ExportFormat) async throws -> Chunks
    /// Who wrote what, with the signatures and certificates that show it: what `muster job audit` checks.
    func history(job: String) async throws -> Chunks

    /// Asks the server for another state; before the first one, to open the job.
    func advance(_ request: AdvanceRequest, job: String) async throws -> QueuedTokens
    /// Asks the server to keep who signed for the inventory as it stands here.
    func signOff(_ request: SignOffRequest, job: String) async throws -> QueuedSignature
    /// What was changed since the newest signature, item by item.
    func amendments(job: String) async throws -> AmendmentReport
    /// What waits for the server, in the order in which it would go; then what it has rejected.
    func queue() async throws -> [QueueEntry]
    /// `token` is whole or a unique prefix, also in the following.
    func queued(_ token: String) async throws -> QueueEntry
    /// Tries it now.
    func retry(_ token: String) async throws -> QueueEntry
    /// Takes it back, or takes note that it was rejected.
    func drop(_ token: String) async throws -> QueueEntry
    /// Sends nothing of this device, or of one lane of it, any more; what is under way goes on.
    func pause(_ request: LaneRequest) async throws -> QueueStatus
    /// Ends a pause; without a lane every pause, and tries refused credentials again.
    func resume(_ request: LaneRequest) async throws -> QueueStatus
    /// The last attempts, oldest first.
    func attempts(limit: Int) async throws -> [QueueAttempt]

    /// Who takes part, sorted by replica id.
    func roster(job: String) async throws -> [RosterMember]
    /// Who was put on it, or taken off it.
    func assignment(job: String) async throws -> JobAssignment
    /// Says who is on it, in this laptop's name.
    func assign(_ request: AssignmentRequest, job: String) async throws -> JobAssignment
    /// Late work that nobody has decided on, in timeline order.
    func late(job: String) async throws -> [LateChange]
    /// Writes late work into a new job, as its authors wrote it (rule R10).
    func acceptLate(_ decision: LateDecision, job: String) async throws -> LateOutcome
    /// Leaves late work out for good, on every device.
    func dropLate(_ decision: LateDecision, job: String) async throws -> LateOutcome

    /// Items that are not removed and match every filter, sorted by id: an `ItemView` each.
    func items(job: String, matching filters: [FieldFilter], as form: ElementForm) async throws -> Chunks
    /// Of these the first behind an item, be it there or not; nil for the first of all.
    ///
    /// - Returns: at most `limit`, and whether there are more; `cursorGone` for what is no whole id.
    func items(
        job: String, matching filters: [FieldFilter], after: String?, limit: Int
    ) async throws -> (items: [ItemView], hasMore: Bool)
    /// One item, removed or not, and who wrote what.
    func item(_ item: String, job: String) async throws -> ItemDetails
    /// Adds an item with a new id.
    func addItem(_ request: FieldsRequest, job: String) async throws -> Identified
    /// Adds or updates items; one that is rejected does not hold up the others.
    func addItems(_ batch: ItemBatch, job: String) async throws -> BatchReport
    /// Sets fields of an item that is not removed; others stay as they are.
    func setFields(_ request: FieldsRequest, item: String, job: String) async throws -> Identified
    /// Adds a remark, which no edit drops (rule R1b).
    func addNote(_ request: NoteRequest, item: String, job: String) async throws -> Identified
    /// Removes one item for good; never wants a confirmation.
    func removeItem(_ item: String, job: String) async throws -> Identified
    /// What a removal would remove, for a person to look at; it removes nothing.
    func previewRemoval(_ request: RemovalRequest, job: String) async throws -> Removed
    /// All or none; twenty or more that are over half of the job want a confirmation (`MassRemoval`).
    func removeItems(_ request: RemovalRequest, job: String) async throws -> Removed
    /// Makes a new item with the fields and remarks of a removed one (rule R2); where it is back already it changes nothing.
    ///
    /// - Parameter item: a barcode is looked for among the removed items first.
    func restoreItem(_ item: String, job: String) async throws -> Restored

    /// A copy of the store as it is now, without the laptop's key; `unavailable` where the disk has no room for it.
    func backup() async throws -> BackupStream
    /// Brings in what a backup holds and this store does not, or tells what that is. Nothing that is here gives way to it (rule R9);
    /// `invalidValue` for what is no backup, or of nobody of this laptop's fleet.
    func restore(_ upload: Upload, isPreview: Bool) async throws -> RestoreReport

    /// What happens from now on, or since an event with an id, in one job or in all, of one type or of all; ends when the
    /// daemon stops. Nothing is missed from when the method returns.
    func events(job: String?, type: EventType?, after last: String?) async throws -> EventSubscription
}

extension MusterService {
    /// All of them.
    package func jobs() async throws -> [JobListEntry] { try await jobs(named: nil) }
}
