import ArgumentParser
import LocalAPI

struct ItemShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an item's fields and remarks, and who wrote them.",
        discussion: "Example:\n  muster item show \"Smith, 12 Elm Street\" 2000000000091")

    @OptionGroup var job: JobArgument
    @OptionGroup var item: ItemArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let details = try await options.withClient { client in
            try await client.item(item.reference, job: job.reference)
        }
        if options.json { return try StandardOutput.json(details) }
        let terminal = Terminal.output
        var facts = Facts()
        facts.add("Id", details.id)
        if details.isRemoved { facts.add("State", "removed") }
        if let replaces = details.replaces { facts.add("Replaces", replaces) }
        let author = authorDisplayName(details.updatedBy, details.updatedByName, details.person)
        facts.add("Changed", "\(Formats.time(details.updatedAt)) by \(author)")
        var table = Table([.text("FIELD"), .text("VALUE"), .text("BY"), .whole("AT")])
        for (field, value) in details.fields.sorted(by: { $0.key < $1.key }) {
            let written = details.fieldHistory[field]
            table.add(Cell(field), Cell(value), Cell(written?.authorName), .time(written?.at))
            for rival in details.rivals[field] ?? [] {
                table.add("(rival)", Cell(rival.value), Cell(rival.authorName), .time(rival.at))
            }
        }
        for remark in details.remarks {
            table.add("(remark)", Cell(remark.value), Cell(remark.authorName), .time(remark.at))
        }
        StandardOutput.lines(facts.lines(on: terminal) + [""] + table.lines(on: terminal))
    }
}
