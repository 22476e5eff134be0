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
        let tables = [
            ("ROOM", report.rooms, Optional(report.total), "(no room)"),
            ("CATEGORY", report.categories, nil, "(no category)"),
        ]
        for (title, lines, total, none) in tables where !lines.isEmpty || terminal.isPiped {
            let table = Self.table(title, lines, total: total, none: none, width: terminal.width)
            StandardOutput.lines(table.lines(on: terminal) + [""])
        }
        var facts = Facts()
        let total = report.total
        facts.add("Items", "\(Formats.count(total.items)) (\(Formats.quantity(total.pieces)) pieces)")
        // Items of which nothing is known weigh something, too.
        let isAtLeast = report.unknownVolumeItems > 0 || report.tooLargeItems > 0 || report.isCapped
        let volume = Volume(cubicFeet: total.cubicFeet, cubicMetres: total.cubicMetres).description
        facts.add("Volume", isAtLeast ? "at least \(volume)" : volume)
        facts.add(
            "Weight",
            "\(isAtLeast ? "at least" : "about") \(Formats.decimal(total.pounds, places: 0)) lb (\(Formats.decimal(total.kilograms, places: 0)) kg), "
                + "at 7 lb per cu ft")
        if let unit = report.storageUnit {
            facts.add(
                "Storage",
                "\(isAtLeast ? "at least " : "")\(unit.count) × unit of \(unit.name), \(Formats.decimal(unit.usableCubicFeet, places: 0)) of "
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
        if !terminal.isPiped {
            facts.add("", "what the customer signs: every laptop with the same inventory shows the same")
        }
        if let signed = amendments.signed { facts.add("Signed", signed) }
        facts.print(on: terminal)
        if !amendments.items.isEmpty {
            StandardOutput.lines([""] + amendments.table.lines(on: terminal))
        }
    }

    private static func table(
        _ title: String, _ lines: [VolumeLine], total: VolumeLine?, none: String, width: Int
    ) -> Table {
        var table = Table([
            .text(title), .number("ITEMS"), .number("PIECES"), .number("CU FT"), .number("M³"), .number("LB"),
        ])
        let rows = lines + (total.map { [$0] } ?? [])
        let numbers = rows.map { line in
            [
                .count(line.items), Cell(shown: Formats.quantity(line.pieces), exact: "\(line.pieces)"),
                Cell(shown: Formats.decimal(line.cubicFeet), exact: "\(line.cubicFeet)"),
                Cell(shown: Formats.decimal(line.cubicMetres, places: 2), exact: "\(line.cubicMetres)"),
                Cell(shown: Formats.decimal(line.pounds, places: 0), exact: "\(line.pounds)"),
            ] as [Cell]
        }
        let names = rows.map { $0.name.isEmpty ? none : Text.plain($0.name) }
        // What the columns of numbers leave.
        let taken = table.columns.indices.dropFirst().map { column in
            numbers.reduce(Text.width(table.columns[column].title)) { max($0, Text.width($1[column - 1].shown)) } + 2
        }
        let shown = CutNames.toldApart(names, to: max(8, width - taken.reduce(0, +)))
        for (index, cells) in numbers.enumerated() {
            table.add([Cell(shown: shown[index], exact: names[index])] + cells)
        }
        return table
    }
}

/// Names that are too long for their place, and would read alike when cut at the end.
enum CutNames {
    /// Where the beginnings of several are the same, their ends are shown, too: `Garage, be…left 10`.
    static func toldApart(_ names: [String], to columns: Int) -> [String] {
        let cut = names.map { Text.fitted($0, to: columns) }
        let isAlike = Dictionary(cut.map { ($0, 1) }, uniquingKeysWith: +).filter { $0.value > 1 }
        return zip(names, cut).map { name, cut in
            guard name != cut, isAlike[cut] != nil else { return cut }
            let beginning = Text.fitted(name, to: (columns + 1) / 2)
            return beginning + ending(of: name, to: columns - Text.width(beginning))
        }
    }

    private static func ending(of name: String, to columns: Int) -> String {
        var result: [Character] = []
        for character in name.reversed() {
            guard Text.width(String(result + [character])) <= columns else { break }
            result.append(character)
        }
        return String(result.reversed())
    }
}
