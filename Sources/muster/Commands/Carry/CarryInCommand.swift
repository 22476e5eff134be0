import ArgumentParser
import LocalAPI
import Systemd

struct CarryInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "in",
        abstract: "Take in what other laptops have carried out for this one.",
        discussion: """
            Of a directory all files that are for this laptop. What does not go on from what is here, or is damaged, is named \
            and left; what stands before a damage is taken.

            Examples:
              muster carry in /media/stick
              muster carry in anna-for-bert-7af2bcca-20261127-164000.muster
            """)

    @Argument(help: "A directory, or a file.", completion: .file(extensions: ["muster"]))
    var path: String

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let place = CarryPlace(path)
        var reports: [CarriedInReport] = []
        var worst = SystemExit.ok
        try await options.withClient { client in
            let own = try await client.carryCard().deviceID
            for file in try place.files(for: own) {
                do {
                    reports.append(CarriedInReport(file: file, report: try await take(file, client)))
                } catch let error as APIError
                    where place.isDirectory && [.invalidValue, .notPermitted].contains(error.code)
                {
                    StandardError.say("\(file): \(Text.plain(error.message))")
                    worst = .badData
                }
            }
        }
        if options.json { try StandardOutput.json(reports) } else { tell(reports) }
        if reports.contains(where: { $0.report.isOwnProblem }) { throw Stop(code: .tryAgain) }
        if reports.contains(where: { !$0.report.isWhole }) { worst = .badData }
        if worst != .ok { throw Stop(code: worst) }
    }

    private func take(_ file: String, _ client: LocalClient) async throws -> CarryReport {
        try await UploadedFile(path: file).send { try await client.carryIn($0) }
    }

    private func tell(_ reports: [CarriedInReport]) {
        if reports.isEmpty { StandardOutput.say("Nothing there is for this laptop.") }
        for (file, report) in reports.map({ ($0.file, $0.report) }) {
            let from = "From \(Text.plain(report.name))"
            if report.changes == 0, report.words == 0, !report.jobs.contains(where: \.hasEnded) {
                StandardOutput.say("\(from): nothing that was not here already.")
            } else {
                StandardOutput.say(
                    "\(from): \(counted(report.changes, "change")) in \(counted(report.jobs.count { $0.changes > 0 }, "job"))."
                )
            }
            for job in report.jobs {
                let name = job.name.map { "\"\(Text.plain($0))\"" } ?? job.job
                let by = job.laptops.isEmpty ? "" : " by \(job.laptops.map(Text.plain).joined(separator: ", "))"
                if job.changes > 0 { StandardOutput.say("  \(name): \(counted(job.changes, "change"))\(by).") }
                if job.hasEnded { StandardOutput.say("  \(name) has ended.") }
                for sentence in job.refused { StandardError.say("\(name): \(Text.plain(sentence))") }
            }
            if let problem = report.problem {
                StandardError.say("\(file): \(Text.plain(problem)) What stood before that is taken.")
            }
        }
    }
}

/// One file that was taken in.
struct CarriedInReport: Encodable {
    let file: String
    let report: CarryReport
}
