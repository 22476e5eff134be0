import ArgumentParser
import Inventory

/// What a list can show of each of its things.
struct ListColumn<Row> {
    /// Its name in `--columns` and `--sort`: the title in small letters.
    let key: String
    let column: Table.Column
    /// Whether it is shown without being asked for.
    let isUsual: Bool
    let cell: (Row) -> Cell

    /// - Parameter isUsual: of a column that is not, `--wide` and `--columns` show it.
    init(_ column: Table.Column, isUsual: Bool = true, _ cell: @escaping (Row) -> Cell) {
        (self.column, self.isUsual, self.cell) = (column, isUsual, cell)
        key = column.title.lowercased().split(separator: " ").joined(separator: "-")
    }
}

/// A command that prints a list.
protocol ListCommand: AsyncParsableCommand {
    /// Those of `--columns` and `--sort`.
    static var columnNames: [String] { get }
}

/// How a person or a script wants a list.
struct ListOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("These columns, in this order, with commas between.", valueName: "names"),
        completion: Offers.columns)
    var columns: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Order by a column; with a hyphen before it the greatest first.", valueName: "column"),
        completion: Offers.sorting)
    var sort: String?

    @Flag(help: "All columns, and nothing cut, also where that is wider than the terminal.")
    var wide = false

    /// Of a list's command, as ArgumentParser would not break it.
    static func usage(_ command: String) -> String {
        let options = "[--columns <names>] [--sort <column>] [--wide]"
        let margin = String(repeating: " ", count: "muster ".count)
        return "\(command) \(options)\n\(margin)[--json] [--socket <path>]"
    }

    /// The names given with `--columns`.
    var names: [String]? { columns?.split(separator: ",").map { $0.trimmed }.filter { !$0.isEmpty } }
    /// The name given with `--sort`.
    var sortName: String? { sort.map { $0.hasPrefix("-") ? String($0.dropFirst()) : $0 } }
    /// Whether nothing was asked for.
    var isUsual: Bool { columns == nil && sort == nil && !wide }

    /// The rows as a table, in the order that was asked for.
    ///
    /// - Parameter other: a column that is not in the list but has a meaning all the same, such as a field of items.
    func table<Row>(of rows: [Row], columns all: [ListColumn<Row>]) throws -> Table {
        Table(of: try sorted(rows, all), showing: try shown(all))
    }

    /// For the terminal as it is, or wider than it where that was asked for.
    func terminal() -> Terminal {
        var terminal = Terminal.output
        if wide { terminal.width = .max / 4 }
        return terminal
    }

    /// Those that were asked for. They are not left out again.
    func shown<Row>(
        _ all: [ListColumn<Row>], _ other: (String) -> ListColumn<Row>? = { _ in nil }
    ) throws -> [ListColumn<Row>] {
        guard let names else { return wide ? all : all.filter(\.isUsual) }
        guard !names.isEmpty else {
            throw ValidationError("--columns names no column; there are \(all.map(\.key).joined(separator: ", ")).")
        }
        return try names.map { name in
            let found = try column(name, all, other)
            var column = found.column
            column.isOptional = false
            return ListColumn(column, found.cell)
        }
    }

    /// Equal ones keep their order.
    func sorted<Row>(
        _ rows: [Row], _ all: [ListColumn<Row>], _ other: (String) -> ListColumn<Row>? = { _ in nil }
    ) throws -> [Row] {
        guard let sortName else { return rows }
        let cell = try column(sortName, all, other).cell
        let keyed = rows.enumerated().map { (place: $0.offset, cell: cell($0.element), row: $0.element) }
        let isDescending = sort?.hasPrefix("-") ?? false
        return keyed.sorted { first, second in
            let (left, right) = (first.cell, second.cell)
            // What says nothing stands last in both directions.
            if left.exact.isEmpty != right.exact.isEmpty { return right.exact.isEmpty }
            if left.precedes(right) { return !isDescending }
            return right.precedes(left) ? isDescending : first.place < second.place
        }.map(\.row)
    }

    private func column<Row>(
        _ name: String, _ all: [ListColumn<Row>], _ other: (String) -> ListColumn<Row>?
    ) throws -> ListColumn<Row> {
        if let found = all.first(where: { $0.key == name.lowercased() }) ?? other(name) { return found }
        let keys = all.map(\.key)
        let hint = NearestName.of(name, among: keys).map { "did you mean '\($0)'? All:" } ?? "there are"
        throw ValidationError("There is no column '\(name)'; \(hint) \(keys.joined(separator: ", ")).")
    }
}

extension Table {
    init<Row>(of rows: [Row], showing columns: [ListColumn<Row>]) {
        self.init(columns.map(\.column))
        remedy = "--wide or --columns"
        for row in rows { add(columns.map { $0.cell(row) }) }
    }
}

extension Array {
    /// Of a list's columns, for its help.
    func described<Row>() -> String where Element == ListColumn<Row> {
        "The columns are \(map(\.key).joined(separator: ", "))."
    }
}

extension Substring {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}

extension GlobalOptions {
    /// A list as JSON, or as the table that was asked for; where it is empty, a sentence instead.
    func print<Row: Encodable>(
        _ rows: [Row], _ list: ListOptions, columns: [ListColumn<Row>], none sentence: String
    ) throws {
        try check(list)
        if json { return try StandardOutput.json(rows) }
        let table = try list.table(of: rows, columns: columns)
        guard !rows.isEmpty else { return StandardOutput.remark(sentence) }
        table.print(on: list.terminal())
    }

    /// A document has no columns.
    func check(_ list: ListOptions) throws {
        guard json, !list.isUsual else { return }
        throw ValidationError("--columns, --sort and --wide are for tables: leave them out with --json.")
    }
}
