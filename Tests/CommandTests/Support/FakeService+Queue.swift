import HTTPCoding
import LocalAPI

extension FakeService {
    static let tokens = ["3f2a90c1", "77d01b2e"].map { $0 + String(repeating: "0", count: 24) }

    static let entries = [
        QueueEntry(
            token: tokens[0], lane: "\(jobID)/state", priority: 128, kind: "advanceState", job: jobID,
            jobName: "Smith, 12 Elm Street", wish: "advance to awaitingSignature", state: .waiting, attempts: 3,
            nextAttemptAt: Timestamp(milliseconds: 1_722_508_212_400), lastError: "no connection to the server",
            createdAt: moment),
        QueueEntry(
            token: tokens[1], lane: "\(jobID)/state", priority: 128, kind: "advanceState", job: jobID,
            jobName: "Smith, 12 Elm Street", wish: "advance to completed", isOwn: false, state: .behind,
            createdAt: moment),
    ]

    func advance(_ request: AdvanceRequest, job: String) async throws -> QueuedTokens {
        try check(job: job, allowed: true)
        guard request.state == "dispatched" else {
            throw APIError(
                .invalidValue, "The job is scheduled and cannot become \(request.state); give dispatched, cancelled.")
        }
        note("advance \(request.state)")
        return QueuedTokens(tokens: [Self.tokens[0]])
    }

    func signOff(_ request: SignOffRequest, job: String) async throws -> QueuedSignature {
        try check(job: job, allowed: true)
        note("sign off \(request.name) \(request.digest ?? "-")")
        return QueuedSignature(tokens: [Self.tokens[0]], digest: String(repeating: "5a", count: 32))
    }

    /// Not listed any more.
    static let finished = QueueEntry(
        token: "a1b2c3d4" + String(repeating: "0", count: 24), lane: "\(jobID)/state", priority: 128,
        kind: "advanceState", job: jobID, jobName: "Smith, 12 Elm Street", wish: "advance to dispatched", isOwn: false,
        askedBy: "bert-laptop", state: .rejected, attempts: 2, lastError: "The job is completed.", createdAt: moment,
        decidedAt: Timestamp(milliseconds: moment.milliseconds + 60_000))

    func queue() async throws -> [QueueEntry] { Self.entries }

    func queued(_ token: String) async throws -> QueueEntry {
        guard let entry = (Self.entries + [Self.finished]).first(where: { $0.token.hasPrefix(token) }) else {
            throw APIError(
                .unknownMutation,
                "No mutation '\(token)' is known here; 'muster queue list' and 'muster queue log' show their tokens.")
        }
        return entry
    }

    func retry(_ token: String) async throws -> QueueEntry {
        note("retry \(token)")
        return try await queued(token)
    }

    func drop(_ token: String) async throws -> QueueEntry {
        note("drop \(token)")
        return try await queued(token)
    }

    func pause(_ request: LaneRequest) async throws -> QueueStatus {
        note("pause \(request.lane ?? "-")")
        return QueueStatus(pending: 1, parked: 1)
    }

    func resume(_ request: LaneRequest) async throws -> QueueStatus {
        note("resume \(request.lane ?? "-")")
        return QueueStatus(pending: 2, parked: 0)
    }

    func attempts(limit: Int) async throws -> [QueueAttempt] {
        [
            QueueAttempt(
                token: Self.tokens[0], wish: "advance to awaitingSignature", job: Self.jobID,
                jobName: "Smith, 12 Elm Street", attempt: 2, at: Self.moment, durationMilliseconds: 12,
                outcome: "serverBusy",
                status: 503, detail: "the server is busy", nextAttemptAt: Timestamp(milliseconds: 1_722_508_205_000)),
            QueueAttempt(
                token: Self.tokens[0], attempt: 3, at: Timestamp(milliseconds: 1_722_508_205_010),
                durationMilliseconds: 1_804, outcome: "accepted", status: nil, detail: "", nextAttemptAt: nil),
            QueueAttempt(
                token: Self.tokens[1], attempt: 1, at: Timestamp(milliseconds: 1_722_508_206_000),
                durationMilliseconds: 0,
                outcome: "interrupted", status: nil, detail: "the daemon stopped in the middle of an attempt",
                nextAttemptAt: nil),
        ]
    }
}
