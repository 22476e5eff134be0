import LocalAPI

/// What a list of items shows of one: the few fields that most lists need, or all that an item has.
protocol ListedItem: Decodable, Sendable {
    var id: String { get }
    var notes: [String] { get }
    func field(_ name: String) -> String?
    var changed: Cell { get }
}

extension ItemView: ListedItem {
    func field(_ name: String) -> String? { fields[name] }
    var changed: Cell { .time(updatedAt) }
}

extension ItemRow: ListedItem {
    func field(_ name: String) -> String? {
        switch name {
        case "barcode": fields.barcode
        case "name": fields.name
        case "category": fields.category
        case "title": fields.title
        case "room": fields.room
        case "quantity": fields.quantity
        case "condition": fields.condition
        default: nil
        }
    }
    var changed: Cell { .none }
}

/// The items of a job as a table that begins before the last of them has come: what the first of many need all get.
struct ItemTable<Item: ListedItem> {
    private let isPart: Bool
    private let terminal: Terminal
    private let columns: [ListColumn<Item>]?
    private var waiting: [Item] = []
    private var shape: Shape?

    /// - Parameters:
    ///   - isPart: the job may have items that are not listed.
    ///   - columns: those that somebody has asked for; nil for the usual ones.
    init(isPart: Bool, columns: [ListColumn<Item>]? = nil, on terminal: Terminal) {
        self.isPart = isPart
        self.columns = columns
        self.terminal = terminal
    }

    /// - Returns: lines that can be shown already.
    mutating func add(_ rows: [Item]) -> [String] {
        guard !terminal.isPiped else { return rows.map { row in Table.exactLine(exact.map { $0.cell(row) }) } }
        guard shape == nil else { return rows.compactMap { shape?.line($0) } }
        waiting += rows
        return waiting.count > ShortIDs.sample ? begin(isPart: true) : []
    }

    /// - Returns: what was not shown yet.
    mutating func finish() -> [String] { waiting.isEmpty || shape != nil ? [] : begin(isPart: isPart) }

    private var exact: [ListColumn<Item>] { columns ?? ItemColumns.all(ShortIDs([])).filter(\.isUsual) }

    private mutating func begin(isPart: Bool) -> [String] {
        let short = ShortIDs(waiting.map(\.id), isPart: isPart)
        var barcodes: Set<String> = []
        // Where each item has a barcode of its own that names it well enough, the id would take the names' place.
        let isEachNamed =
            columns == nil && waiting.allSatisfy { row in row.barcode.map { barcodes.insert($0).inserted } ?? false }
        let all: [ListColumn<Item>] = ItemColumns.all(short)
        let usual = all.filter { $0.isUsual && !(isEachNamed && $0.key == "id") }
        let shown = columns.map { ItemColumns.shortened($0, short) } ?? usual
        let table = Table(of: waiting, showing: shown)
        let layout = table.layout(width: terminal.width)
        shape = Shape(layout: layout, columns: shown, short: short, barcodes: isEachNamed ? barcodes : nil)
        waiting = []
        return [layout.head(terminal.style)] + table.rows.map(layout.line)
            + layout.foot(terminal.style, width: terminal.width)
    }

    /// What was settled with the first rows.
    private struct Shape {
        let layout: Table.Layout
        let columns: [ListColumn<Item>]
        let short: ShortIDs
        /// Those that name an item, where barcodes do.
        var barcodes: Set<String>?

        mutating func line(_ row: Item) -> String {
            var cells = columns.map { $0.cell(row) }
            if barcodes != nil, !(row.barcode.map { barcodes?.insert($0).inserted ?? false } ?? false) {
                // No barcode, or another item's: what people can name it by stands there all the same.
                cells[0] = .id(row.id, short)
            }
            return layout.line(cells)
        }
    }
}

/// What a list can show of items besides their other fields.
enum ItemColumns {
    static func all<Item: ListedItem>(_ short: ShortIDs) -> [ListColumn<Item>] {
        [
            ListColumn(.whole("ID")) { .id($0.id, short) },
            ListColumn(.whole("BARCODE")) { Cell($0.barcode ?? "") },
            ListColumn(.text("NAME")) { Cell($0.label ?? "") },
            ListColumn(.text("ROOM").optional) { Cell($0.field("room") ?? "") },
            ListColumn(.number("QTY").optional) { Cell($0.field("quantity") ?? "") },
            ListColumn(.text("CONDITION").optional) { Cell($0.field("condition") ?? "") },
            ListColumn(.number("NOTES").optional) { $0.notes.isEmpty ? "" : .count($0.notes.count) },
            ListColumn(.text("CATEGORY").optional, isUsual: false) { Cell($0.field("category") ?? "") },
            ListColumn(.whole("CHANGED").optional, isUsual: false) { $0.changed },
        ]
    }

    /// Any field of an item can be a column.
    static func field<Item: ListedItem>(_ name: String) -> ListColumn<Item>? {
        ListColumn(.text(name.uppercased())) { Cell($0.field(name) ?? "") }
    }

    fileprivate static func shortened<Item>(_ columns: [ListColumn<Item>], _ short: ShortIDs) -> [ListColumn<Item>] {
        columns.map { column in
            guard column.key == "id" else { return column }
            return ListColumn(column.column) { .id(column.cell($0).exact, short) }
        }
    }
}

extension ListedItem {
    fileprivate var barcode: String? { field("barcode").flatMap { $0.isEmpty ? nil : $0 } }
    fileprivate var label: String? { field("name") ?? field("category") ?? field("title") }
}
