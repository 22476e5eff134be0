import ArgumentParser
import LocalAPI

struct JobSummaryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "summary",
        abstract: "Show items, volume, estimated weight, and the storage unit that fits.",
        discussion: """
            What was changed since the customer signed stands below, item by item.

            Example:
              muster job summary "Smith, 12 Elm Street"
            """)

    @OptionGroup var job: JobArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let (report, amendments) = try await options.withClient { client in
            (try await client.summary(job: job.reference), try await client.amendments(job: job.reference))
        }
        if options.json { return try StandardOutput.json(WithAmendments(answer: report, amendments: amendments)) }
        let terminal = Terminal.output
        StandardOutput.lines(
            Self.table("ROOM", report.rooms, total: report.total, none: "(no room)").lines(on: terminal) + [""]
                + Self.table("CATEGORY", report.categories, total: nil, none: "(no category)").lines(on: terminal)
                + [""])
        var facts = Facts()
        let total = report.total
        facts.add("Items", "\(Formats.count(total.items)) (\(Formats.quantity(total.pieces)) pieces)")
        facts.add(
            "Volume", Volume(cubicFeet: total.cubicFeet, cubicMetres: total.cubicMetres).description)
        facts.add(
            "Weight",
            "about \(Formats.decimal(total.pounds, places: 0)) lb (\(Formats.decimal(total.kilograms, places: 0)) kg), "
                + "at 7 lb per cu ft")
        if let unit = report.storageUnit {
            facts.add(
                "Storage",
                "\(unit.count) × unit of \(unit.name), \(Formats.decimal(unit.usableCubicFeet, places: 0)) of "
                    + "\(Formats.decimal(unit.cubicFeet, places: 0)) cu ft usable")
        }
        facts.add("Source", report.source)
        if report.unknownVolumeItems > 0 {
            facts.add("Unknown", "\(counted(report.unknownVolumeItems, "item")) of unknown volume, counted as none")
        }
        if report.tooLargeItems > 0 {
            facts.add(
                "Left out",
                "\(counted(report.tooLargeItems, "item")) too large to add up (quantity × volume), among them:")
            for item in report.tooLargeExamples.prefix(5) { facts.add("", "item \(item)") }
        }
        if report.isCapped { facts.add("Capped", "the sums are greater than these figures, which stop there") }
        if report.unreadableValues > 0 {
            facts.add("Not read", "\(counted(report.unreadableValues, "value")) that should be numbers, among them:")
            for value in report.unreadableExamples.prefix(5) {
                facts.add("", "\(value.field)=\(value.value) of item \(value.item)")
            }
        }
        facts.add("Digest", report.digest)
        if let signed = amendments.signed { facts.add("Signed", signed) }
        facts.print(on: terminal)
        if !amendments.items.isEmpty {
            StandardOutput.lines([""] + amendments.table.lines(on: terminal))
        }
    }

    private static func table(_ title: String, _ lines: [VolumeLine], total: VolumeLine?, none: String) -> Table {
        var table = Table([
            .text(title), .number("ITEMS"), .number("PIECES"), .number("CU FT"), .number("M³"), .number("LB"),
        ])
        for line in lines + (total.map { [$0] } ?? []) {
            table.add(
                Cell(line.name.isEmpty ? none : line.name), .count(line.items),
                Cell(shown: Formats.quantity(line.pieces), exact: "\(line.pieces)"),
                Cell(shown: Formats.decimal(line.cubicFeet), exact: "\(line.cubicFeet)"),
                Cell(shown: Formats.decimal(line.cubicMetres, places: 2), exact: "\(line.cubicMetres)"),
                Cell(shown: Formats.decimal(line.pounds, places: 0), exact: "\(line.pounds)"))
        }
        return table
    }
}
