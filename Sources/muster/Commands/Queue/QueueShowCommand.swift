import ArgumentParser
import LocalAPI

struct QueueShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show everything about one request, also of one that is finished.",
        discussion: "Example:\n  muster queue show 3f2a90c1")

    @OptionGroup var named: TokenArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let entry = try await options.withClient { try await $0.queued(named.token) }
        if options.json { return try StandardOutput.json(entry) }
        var facts = Facts()
        facts.add("Token", entry.token)
        facts.add("Request", entry.wish)
        facts.add("Job", entry.jobName ?? entry.job)
        facts.add("Priority", "\(entry.priority)")
        facts.add("State", entry.stateDescription)
        facts.add("Attempts", Formats.count(entry.attempts))
        facts.add(entry.decidedAt == nil ? "Last error" : "Reason", entry.lastError ?? "none")
        let place = entry.askedBy.map { ", on \($0)" } ?? (entry.isOwn ? "" : ", on another laptop")
        facts.add("Asked", Formats.time(entry.createdAt) + place)
        if let decidedAt = entry.decidedAt { facts.add("Decided", Formats.time(decidedAt) + ", by the office") }
        facts.print(on: .output)
    }
}
