import LocalAPI

/// The items of a job as a table that begins before the last of them has come: what the first of many need all get.
struct ItemTable {
    /// With no more than these the table is made for all of them.
    static let sample = 1_000
    /// Ids of one moment differ only towards their end: of a part of the items enough is shown for the rest, too.
    private static let longID = 23

    private let isPart: Bool
    private let terminal: Terminal
    private var waiting: [ItemRow] = []
    private var shape: Shape?

    /// - Parameter isPart: the job may have items that are not listed.
    init(isPart: Bool, on terminal: Terminal) {
        self.isPart = isPart
        self.terminal = terminal
    }

    /// - Returns: lines that can be shown already.
    mutating func add(_ rows: [ItemRow]) -> [String] {
        guard shape == nil else { return rows.compactMap { shape?.line($0) } }
        waiting += rows
        return waiting.count > Self.sample ? begin(isPart: true) : []
    }

    /// - Returns: what was not shown yet.
    mutating func finish() -> [String] {
        guard shape == nil else { return [] }
        guard !waiting.isEmpty else { return [isPart ? "No item matches." : "The job has no item yet."] }
        return begin(isPart: isPart)
    }

    private mutating func begin(isPart: Bool) -> [String] {
        let short = ShortIDs(waiting.map(\.id), atLeast: isPart ? Self.longID : ShortIDs.shortest)
        var barcodes: Set<String> = []
        // Where each item has a barcode of its own that names it well enough, and the id would take the names' place.
        let isEachNamed = waiting.allSatisfy { row in
            row.barcode.map { barcodes.insert($0).inserted } ?? false
        }
        var table = Table(
            (isEachNamed ? [] : [.whole("ID")]) + [
                .whole("BARCODE"), .text("NAME"), .text("ROOM"), .number("QTY"), .text("CONDITION"), .number("NOTES"),
            ])
        for row in waiting { table.add((isEachNamed ? [] : [short[row.id]]) + row.cells) }
        let layout = table.layout(width: terminal.width)
        shape = Shape(layout: layout, showsIDs: !isEachNamed, short: short, barcodes: isEachNamed ? barcodes : [])
        waiting = []
        return [layout.head(terminal.style)] + table.rows.map(layout.line)
    }

    /// What was settled with the first rows.
    private struct Shape {
        let layout: Table.Layout
        let showsIDs: Bool
        let short: ShortIDs
        /// Those that name an item, where barcodes do.
        var barcodes: Set<String>

        mutating func line(_ row: ItemRow) -> String {
            var cells = row.cells
            if showsIDs {
                cells.insert(short[row.id], at: 0)
            } else if !(row.barcode.map { barcodes.insert($0).inserted } ?? false) {
                // No barcode, or another item's: what people can name it by stands there all the same.
                cells[0] = short[row.id]
            }
            return layout.line(cells.map(Text.plain))
        }
    }
}

extension ItemRow {
    fileprivate var barcode: String? { fields.barcode.flatMap { $0.isEmpty ? nil : $0 } }

    fileprivate var cells: [String] {
        [
            barcode ?? "", fields.name ?? fields.category ?? fields.title ?? "", fields.room ?? "",
            fields.quantity ?? "", fields.condition ?? "", notes.isEmpty ? "" : "\(notes.count)",
        ]
    }
}
