import ArgumentParser
import Audit
import LocalAPI

struct JobArchiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "archive",
        abstract: "Write a job that is over to a file that proves itself, then remove it from every laptop.",
        usage: "muster job archive <job> [--output <file>] [--yes] [--json]",
        discussion: """
            The file is the job's whole history with the signatures of its laptops: 'muster job audit FILE' checks it years \
            later, without a daemon. It is checked here, too, and on the disk before anything is removed. Then the job ends as \
            with 'muster job remove', on this laptop, on the others and at the server, and its space is freed; whatever \
            somebody has written in it that is not here yet is kept as late work. Only a job that is completed or cancelled \
            is archived, with no request waiting, and while nobody is known to hold more of it. From then on the file is \
            the job: keep two of it.

            Example:
              muster job archive "Smith, 12 Elm Street" --output /media/stick/smith.history
            """)

    @OptionGroup var job: JobArgument

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Where it goes; by default JOB.history, here.", valueName: "file"),
        completion: .file())
    var output: String?

    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var options: GlobalOptions

    private struct Archived: Encodable {
        let id: String
        let file: String
        let changes: Int
        let fleetID: String?
    }

    func run() async throws {
        try await options.withClient { client in
            try await Self.awaitServer(client)
            // Its tag is read first: what comes later than this is not removed unseen.
            let (details, tag) = try await client.taggedJob(job.reference)
            try await Self.checkThatItIsOver(details, client)
            let path = output ?? "\(details.id).history"
            try WholeFile.checkName(path)
            try confirmation.confirm(
                "This writes the job \"\(details.name)\" with \(counted(details.items, "item")) to \(path), and then removes it for "
                    + "good from every laptop and the server.", writingNameOf: details)
            let report = try await WholeFile.watched(path: path, isReplacing: false) { file in
                try await client.history(job: details.id) { try file.write($0) }
                let report = try await Self.audited(file, details)
                try file.publish()
                return report
            }
            do { _ = try await client.removeJob(details.id, isConfirmed: true, ifMatch: tag) } catch let error
                as APIError
                where error.code == .preconditionFailed
            {
                throw APIError(
                    .unavailable,
                    "Somebody has changed the job meanwhile, so it was not removed, and \(path) lacks that: delete it, and archive the "
                        + "job again.")
            } catch let error as APIError {
                throw APIError(
                    error.code,
                    "\(path) is written and whole, and it is not known whether the job was removed: if 'muster job list' still has it, delete "
                        + "the file and archive the job again. \(error.message)")
            }
            let changes = report.journals.reduce(0) { $0 + $1.changes }
            if options.json {
                return try StandardOutput.json(
                    Archived(id: details.id, file: path, changes: changes, fleetID: report.fleetID))
            }
            StandardOutput.say(
                "Archived the job \"\(Text.plain(details.name))\" in \(Text.plain(path)): \(counted(changes, "change")), each signed by "
                    + "its author.")
        }
    }

    /// Returns when the server has been asked anew for all that it holds: what somebody has brought there since the last look belongs
    /// to the file.
    private static func awaitServer(_ client: LocalClient) async throws {
        guard let before = try await client.status().server else { return }
        var (answers, last) = (0, before.lastAnswerAt)
        let progress = ProgressBar()
        defer { progress.clear() }
        for second in 0..<longestWaitSeconds {
            guard let server = try await client.status().server, server.state == .reached else { break }
            if server.lastAnswerAt != last { (answers, last) = (answers + 1, server.lastAnswerAt) }
            // The first one may be of a look that began before.
            if answers > 1 { return }
            progress.show(second, of: nil, "Asking the server …")
            try await Task.sleep(for: .seconds(1))
        }
        throw APIError(
            .unavailable,
            "The server is not reached, so nobody knows whether it holds more of the job; archive it when 'muster status' shows "
                + "the server.")
    }

    private static let longestWaitSeconds = 120

    /// - Throws: with what has to be waited for, or done before.
    private static func checkThatItIsOver(_ job: JobDetails, _ client: LocalClient) async throws {
        guard !job.isRemoved else {
            throw APIError(
                .jobRemoved,
                "The job \"\(job.name)\" was removed, and its history with it; there is nothing to archive.")
        }
        guard let state = job.state.published, ["completed", "cancelled"].contains(state) else {
            throw APIError(
                .invalidValue,
                "The job \"\(job.name)\" is not over (\(job.state.published ?? "no server has said how it stands")): only one that is "
                    + "completed or cancelled is archived; 'muster job advance' asks for that.")
        }
        let waiting = try await client.queue().filter { $0.job == job.id }
        guard job.state.pending == nil, waiting.isEmpty else {
            throw APIError(
                .unavailable,
                "\(counted(max(1, waiting.count), "request")) of the job \(waiting.count > 1 ? "wait" : "waits") for the server: "
                    + "see 'muster queue list', and archive it when they are done.")
        }
        let late = try await client.late(job: job.id).count
        guard late == 0 else {
            throw APIError(
                .unavailable,
                "\(counted(late, "change")) of the job \(late == 1 ? "is" : "are") late and nobody has decided: see 'muster job late', and "
                    + "archive it then.")
        }
        let check = try await client.check(job: job.id)
        if let device = check.devices.first(where: \.mayHoldMore) {
            throw APIError(
                .unavailable,
                "\(device.name ?? device.deviceID.map(ShortIDs.random) ?? "A laptop") may hold work on the job that is not here: "
                    + "bring it together with this laptop, see 'muster job check', and archive it then.")
        }
    }

    /// What stands on the disk, as whoever audits it later sees it.
    private static func audited(_ file: WholeFile, _ job: JobDetails) async throws -> AuditReport {
        var reader = HistoryReader(listsChanges: false)
        let report: AuditReport
        do {
            try file.reread { try reader.add($0) }
            report = try await reader.report()
        } catch let fault as HistoryAudit.Fault { throw APIError(.failed, fault.sentence) }
        guard report.holds, report.reaches(job.vector) else {
            throw APIError(
                .invalidValue,
                "The job's history does not prove itself, so nothing was removed: see 'muster job audit \(job.id)'.")
        }
        return report
    }
}

extension DeviceCheck {
    /// What it lacks itself goes with the job in any case.
    fileprivate var mayHoldMore: Bool {
        switch outcome {
        case .same, .absent: false
        case .different, .away: !isHoldingKnown || !missingHere.isEmpty
        case .unanswered: true
        }
    }
}
