import LocalAPI

import LocalAPIServer
@testable import Node

/// The service of a laptop that has met a peer and tried to reach the server: what only a network shows is put into its
/// answers. The others are the service's own.
struct MetService: MusterService {
    enum Company { case met, different, alone }
    var own: InventoryService
    let bert: String
    var company = Company.met

    func serving(_ caller: LocalCaller) -> any MusterService {
        var service = self
        service.own = own.called(by: caller)
        return service
    }
    func once(
        _ keyed: KeyedRequest, _ carryOut: @Sendable (any MusterService) async throws -> APIAnswer
    ) async throws -> APIAnswer { try await own.once(keyed, carryOut) }
    func checkThatItWrites() throws { try own.checkThatItWrites() }
    func sessionReport() async throws -> SessionReport { try await own.sessionReport() }
    func beginSession(_ request: BeginSessionRequest) async throws -> SessionReport {
        try await own.beginSession(request)
    }
    func endSession() async throws -> SessionReport { try await own.endSession() }
    func crew() async throws -> CrewReport { try await own.crew() }
    func status() async throws -> Status {
        var status = try await own.status()
        (status.peers, status.sync) = (try await peers(), SyncState(try await peers()))
        if company == .alone { return status }
        (status.clock.source, status.clock.isSynchronised) = (.peer, true)
        (status.clock.driftMilliseconds, status.clock.uncertaintyMilliseconds) = (10_800_012.4, 1.25)
        status.server = ServerContact(
            address: "https://office.example", state: .noRoute, lastAnswerAt: Scene.moment, ageSeconds: 185)
        return status
    }
    func peers() async throws -> [PeerStatus] {
        let away = PeerStatus(
            deviceID: nil, name: nil, address: "[2001:db8:0:1:aaaa:bbbb:cccc:dddd]:4710", state: .unreachable,
            origin: .configured, reason: "No route to host.")
        let here = PeerStatus(
            deviceID: bert, name: "bert-laptop", address: "192.168.1.12:4710", state: .connected, origin: .discovery,
            behind: 12, ahead: 0, roundTripMilliseconds: 0.42, bytesReceived: 81_234, bytesSent: 1_204_880,
            lastHeardAt: Scene.moment)
        return company == .alone ? [away] : [here, away]
    }
    func metrics() async throws -> [Metric] {
        // What a machine has is another on each.
        try await own.metrics().filter { !$0.name.hasSuffix("bytes") && !$0.name.hasSuffix("seconds") }
    }
    func carryCard() async throws -> CarryCard { try await own.carryCard() }
    func carryRecipients(_ it: CarryRecipientsRequest) async throws -> [CarryRecipient] {
        try await own.carryRecipients(it)
    }
    func carryOut(_ it: CarryOutRequest) async throws -> Chunks { try await own.carryOut(it) }
    func carryIn(_ it: Upload) async throws -> CarryReport { try await own.carryIn(it) }
    func clockReport() async throws -> ClockReport {
        var report = try await own.clockReport()
        if company == .alone { return report }
        (report.source, report.isSynchronised, report.isShared, report.stratum) = (.peer, true, true, 2)
        (report.driftMilliseconds, report.uncertaintyMilliseconds, report.ageSeconds) = (10_800_012.4, 1.25, 12.5)
        return report
    }
    func doctor() async throws -> DoctorReport {
        let remedy = "connect the laptop, or one that it meets, to the server"
        let full = HealthCheck.fail(.disk, "12.0 MB free at /var/lib/muster", remedy: "make room there")
        return DoctorReport(checks: [
            .ok(.discovery, "on, through avahi"),
            .warn(.clock, "unsynchronised: it goes by this laptop's own", remedy: remedy),
            company == .alone ? full : .ok(.disk, "81.2 GB free"),
        ])
    }
    func diagnostics() async throws -> Diagnostics { try await own.diagnostics() }
    func job(_ job: String, makesDigest: Bool) async throws -> JobDetails {
        if job == "broken" { throw Fault() }
        if job == "secret" { throw APIError(.notPermitted, "This device is not on the job's roster: ask the office.") }
        var found = try await own.job(job, makesDigest: makesDigest)
        if company == .alone { return found }
        found.peersBehind = [PeerBehind(deviceID: bert, name: "bert-laptop", transforms: 12)]
        found.sync = .catchingUp
        return found
    }
    func check(job: String) async throws -> JobCheck {
        let report = try await own.check(job: job)
        var device = DeviceCheck(deviceID: bert, name: "bert-laptop", outcome: .same, digest: report.digest)
        if company == .different {
            (device.outcome, device.digest) = (.different, nil)
            device.missingThere = report.devices.flatMap(\.missingThere)
            device.missingHere = [MissingRange(replicaID: String(repeating: "2e", count: 16), first: 10, last: 10)]
        }
        return JobCheck(job: report.job, digest: report.digest, devices: company == .alone ? [] : [device])
    }
    func addPeer(_ it: AddPeerRequest) async throws -> AddPeerRequest { try await own.addPeer(it) }
    func removePeer(_ it: String) async throws -> AddPeerRequest { try await own.removePeer(it) }
    func ownAddresses() async throws -> [OwnAddress] {
        guard company != .alone else { return [] }
        return [
            OwnAddress(address: "192.168.1.20:7473", interface: "wlan0", kind: .network),
            OwnAddress(address: "10.8.0.2:7473", interface: "wg0", kind: .tunnel),
        ]
    }
    func fleetStatus() async throws -> FleetStatus { try await own.fleetStatus() }
    func installCertificates(_ it: FleetCertificates) async throws -> FleetStatus {
        try await own.installCertificates(it)
    }
    func signCertificate(_ it: SignCertificateRequest) async throws -> FleetCertificates {
        try await own.signCertificate(it)
    }
    func fleetDevices() async throws -> [FleetDevice] { try await own.fleetDevices() }
    func revoke(_ it: RevocationRequest) async throws -> [FleetDevice] { try await own.revoke(it) }
    func openInvitation(_ it: InvitationRequest) async throws -> InvitationStatus { try await own.openInvitation(it) }
    func invitation(_ name: String) async throws -> InvitationStatus { try await own.invitation(name) }
    func admit(_ it: AdmissionRequest, to invitation: String) async throws -> InvitationStatus {
        var status = try await own.invitation(invitation)
        (status.state, status.newcomer) = (
            .admitted,
            Newcomer(
                deviceID: it.deviceID, name: "tom-laptop", keyWords: "lusab-babad-gutih", address: "192.168.1.14:50122")
        )
        return status
    }
    func withdrawInvitation(_ name: String) async throws -> InvitationStatus { try await own.withdrawInvitation(name) }
    func join(_ it: JoinRequest) async throws -> JoinStatus { try await own.join(it) }
    func joinStatus() async throws -> JoinStatus { try await own.joinStatus() }
    func endJoin() async throws -> JoinStatus { try await own.endJoin() }
    func leaveFleet() async throws -> FleetStatus { try await own.leaveFleet() }
    func jobs(named name: String?) async throws -> [JobListEntry] { try await own.jobs(named: name) }
    func renameJob(_ it: RenameJobRequest, job: String) async throws -> Identified {
        try await own.renameJob(it, job: job)
    }
    func createJob(_ it: CreateJobRequest) async throws -> Identified { try await own.createJob(it) }
    func removeJob(_ job: String, isConfirmed: Bool) async throws -> Identified {
        try await own.removeJob(job, isConfirmed: isConfirmed)
    }
    func summary(job: String) async throws -> VolumeReport { try await own.summary(job: job) }
    func amendments(job: String) async throws -> AmendmentReport { try await own.amendments(job: job) }
    func conflicts(job: String) async throws -> ConflictReport { try await own.conflicts(job: job) }
    func settle(_ it: SettleRequest, job: String) async throws -> SettledConflict { try await own.settle(it, job: job) }
    func log(job: String, item: String?) async throws -> Batches<ChangeReport> {
        try await own.log(job: job, item: item)
    }
    func export(job: String, format: ExportFormat) async throws -> Chunks {
        try await own.export(job: job, format: format)
    }
    func history(job: String) async throws -> Chunks { try await own.history(job: job) }
    func advance(_ it: AdvanceRequest, job: String) async throws -> QueuedTokens { try await own.advance(it, job: job) }
    func signOff(_ it: SignOffRequest, job: String) async throws -> QueuedSignature {
        try await own.signOff(it, job: job)
    }
    func queue() async throws -> [QueueEntry] { try await own.queue() }
    func queued(_ token: String) async throws -> QueueEntry { try await own.queued(token) }
    func retry(_ token: String) async throws -> QueueEntry { try await own.retry(token) }
    func drop(_ token: String) async throws -> QueueEntry { try await own.drop(token) }
    func pause(_ it: LaneRequest) async throws -> QueueStatus { try await own.pause(it) }
    func resume(_ it: LaneRequest) async throws -> QueueStatus { try await own.resume(it) }
    func attempts(limit: Int) async throws -> [QueueAttempt] { try await own.attempts(limit: limit) }
    func roster(job: String) async throws -> [RosterMember] { try await own.roster(job: job) }
    func assignment(job: String) async throws -> JobAssignment { try await own.assignment(job: job) }
    func assign(_ request: AssignmentRequest, job: String) async throws -> JobAssignment {
        try await own.assign(request, job: job)
    }
    func late(job: String) async throws -> [LateChange] { try await own.late(job: job) }
    func acceptLate(_ it: LateDecision, job: String) async throws -> LateOutcome {
        try await own.acceptLate(it, job: job)
    }
    func dropLate(_ it: LateDecision, job: String) async throws -> LateOutcome { try await own.dropLate(it, job: job) }
    func items(job: String, matching filters: [FieldFilter], as form: ElementForm) async throws -> Chunks {
        try await own.items(job: job, matching: filters, as: form)
    }
    func items(
        job: String, matching filters: [FieldFilter], after: String?, limit: Int
    ) async throws -> (items: [ItemView], hasMore: Bool) {
        try await own.items(job: job, matching: filters, after: after, limit: limit)
    }
    func item(_ item: String, job: String) async throws -> ItemDetails { try await own.item(item, job: job) }
    func addItem(_ it: FieldsRequest, job: String) async throws -> Identified { try await own.addItem(it, job: job) }
    func addItems(_ it: ItemBatch, job: String) async throws -> BatchReport { try await own.addItems(it, job: job) }
    func setFields(_ it: FieldsRequest, item: String, job: String) async throws -> Identified {
        try await own.setFields(it, item: item, job: job)
    }
    func addNote(_ it: NoteRequest, item: String, job: String) async throws -> Identified {
        try await own.addNote(it, item: item, job: job)
    }
    func removeItem(_ item: String, job: String) async throws -> Identified { try await own.removeItem(item, job: job) }
    func previewRemoval(_ it: RemovalRequest, job: String) async throws -> Removed {
        try await own.previewRemoval(it, job: job)
    }
    func removeItems(_ it: RemovalRequest, job: String) async throws -> Removed {
        try await own.removeItems(it, job: job)
    }
    func restoreItem(_ item: String, job: String) async throws -> Restored { try await own.restoreItem(item, job: job) }
    func backup() async throws -> BackupStream { try await own.backup() }
    func restore(_ upload: Upload, isPreview: Bool) async throws -> RestoreReport {
        try await own.restore(upload, isPreview: isPreview)
    }
    func events(job: String?, type: EventType?, after last: String?) async throws -> EventSubscription {
        try await own.events(job: job, type: type, after: last)
    }
}
