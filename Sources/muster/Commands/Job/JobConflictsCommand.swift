import ArgumentParser
import LocalAPI

struct JobConflictsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "List and settle concurrent edits; list double barcodes and edits from the future.",
        usage: """
            muster job conflicts <job> [--take <item> <field> <value or author>]
                                 [--json] [--socket <path>]
            """,
        discussion: """
            With --take one of a field's values stays, on every laptop, and the others no longer count. It is named by \
            itself, or by who wrote it: a person, a laptop's name, or the beginning of the id under which it writes. The item 'job' stands for the \
            job's own name and kind.

            Examples:
              muster job conflicts "Smith, 12 Elm Street"
              muster job conflicts "Smith, 12 Elm Street" --take 2000000000091 room Hall
              muster job conflicts "Smith, 12 Elm Street" --take job name anna-laptop
            """)

    @OptionGroup var job: JobArgument

    @Option(
        name: .long, parsing: .upToNextOption,
        help: ArgumentHelp(
            "Settle one field: an item, a field, and the value to keep or its author.", valueName: "choice"))
    var take: [String] = []

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard take.isEmpty || take.count == 3 else {
            throw ValidationError("Give --take an item, a field, and the value to keep or its author.")
        }
    }

    func run() async throws {
        guard take.isEmpty else { return try await settle() }
        let report = try await options.withClient { try await $0.conflicts(job: job.reference) }
        if options.json { return try StandardOutput.json(report) }
        guard !report.edits.isEmpty || !report.duplicateBarcodes.isEmpty || !report.future.isEmpty else {
            return StandardOutput.say("There is no conflict.")
        }
        let text = ConflictText(report, of: job.reference, on: .output)
        StandardOutput.lines(text.lines)
    }

    private func settle() async throws {
        let request = SettleRequest(item: take[0], field: take[1], take: take[2])
        let settled = try await options.withClient { try await $0.settle(request, job: job.reference) }
        if options.json { return try StandardOutput.json(settled) }
        let name = Text.plain(settled.itemName ?? settled.item)
        StandardOutput.say("Set \(Text.plain(settled.field)) of \(name) to \(Text.plain(settled.value)).")
    }
}
