import ArgumentParser
import Glibc
import LocalAPI
import Synchronization
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
                } catch let error as APIError where place.isDirectory && error.code == .invalidValue {
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
        let input = try CarriedInput(file)
        defer { input.end() }
        return try await client.carryIn { try input.next() }
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

/// A file that is read while it is sent.
private final class CarriedInput: Sendable {
    private let descriptor: Int32
    private let progress: CarryProgress
    private let bytes = Mutex(0)

    init(_ path: String) throws {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw APIError(
                errno == EACCES ? .notPermitted : .invalidValue,
                "Cannot read \(path) (\(String(cString: strerror(errno)))): check the file's name.")
        }
        var status = stat()
        progress = CarryProgress(size: fstat(descriptor, &status) == 0 ? Int(status.st_size) : nil)
    }

    func next() throws -> [UInt8]? {
        var failure: Int32 = 0
        let piece = [UInt8](unsafeUninitializedCapacity: 128 << 10) { buffer, count in
            let result = read(descriptor, buffer.baseAddress, buffer.count)
            failure = result < 0 ? errno : 0
            count = max(0, result)
        }
        // A stick that was pulled out.
        guard failure == 0 else {
            throw APIError(.invalidValue, "Cannot read the file on (\(String(cString: strerror(failure)))).")
        }
        let sum = bytes.withLock { sum in
            sum += piece.count
            return sum
        }
        progress.show(sum)
        return piece.isEmpty ? nil : piece
    }

    func end() {
        progress.clear()
        close(descriptor)
    }
}
