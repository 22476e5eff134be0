import CRDT
import Inventory
import Storage

/// What a job adds up to, worked out with a person's arithmetic from what the items have to be.
extension Checker {
    /// Thousandths of a cubic foot of the categories that plans use, from the trade's cube sheet.
    private static let sheet: [Text: Int] = [
        Text("sofa-3-seat"): 50_000, Text("carton-small"): 1_500, Text("piano-upright"): 50_000,
    ]

    private struct Sum: Equatable {
        var items = 0
        var pieces = 0
        var cubicFeet = 0

        init() {}

        init(_ line: VolumeSummary.Line) {
            (items, pieces, cubicFeet) = (line.items, line.pieces.rawValue, line.cubicFeet.rawValue)
        }

        mutating func add(pieces: Int, cubicFeet: Int) {
            items += 1
            self.pieces += pieces
            self.cubicFeet += cubicFeet
        }
    }

    /// - Returns: thousandths of a cubic foot.
    func checkSummary(of job: JobID, on device: Holder) async throws -> Int {
        var summary = VolumeSummary()
        let cursor = try device.store.itemCursor(of: job)
        while let items = try await cursor.next() {
            for item in items where item.state.removed == nil { summary.add(item.id, field: item.state.value(of:)) }
        }
        var total = Sum()
        var rooms: [Text: Sum] = [:]
        var categories: [Text: Sum] = [:]
        var unknown: [ItemID] = []
        var unreadable = 0
        let reference = device[job]
        for id in reference.itemIDs {
            let item = reference.expected(id)
            guard !item.isRemoved else { continue }
            let quantity = item.values[Text("quantity")], volume = item.values[Text("volumeCubicFeet")]
            unreadable +=
                [quantity, volume].filter { $0.map { !$0.bytes.isEmpty && $0.thousandths == nil } ?? false }.count
            let pieces = quantity?.thousandths ?? 1_000
            let category = item.values[Text("category")] ?? Text("")
            let each = volume?.thousandths ?? Self.sheet[category]
            if each == nil { unknown.append(id) }
            // Quantities in plans are whole, so that there is nothing to round.
            let cubicFeet = (each ?? 0) * (pieces / 1_000)
            total.add(pieces: pieces, cubicFeet: cubicFeet)
            rooms[item.values[Text("room")] ?? Text(""), default: Sum()].add(pieces: pieces, cubicFeet: cubicFeet)
            categories[category, default: Sum()].add(pieces: pieces, cubicFeet: cubicFeet)
        }
        guard Sum(summary.total) == total, summary.unknownVolume == unknown, summary.unreadable.count == unreadable
        else { throw Violation("R3", "\(device) adds the job up to \(summary.total), not \(total).") }
        try check(summary.rooms, rooms, on: device)
        try check(summary.categories, categories, on: device)
        count(.summary)
        return total.cubicFeet
    }

    /// Names that Unicode holds equal are one room, under the first of its spellings.
    private func check(_ found: [VolumeSummary.NamedLine], _ wanted: [Text: Sum], on device: Holder) throws {
        var merged: [(name: Text, line: Sum)] = []
        for (name, line) in wanted.sorted(by: { $0.key < $1.key }) {
            if let index = merged.firstIndex(where: { $0.name.description == name.description }) {
                merged[index].line.items += line.items
                merged[index].line.pieces += line.pieces
                merged[index].line.cubicFeet += line.cubicFeet
            } else {
                merged.append((name, line))
            }
        }
        let isSame = found.elementsEqual(merged) { Text($0.name) == $1.name && Sum($0.line) == $1.line }
        guard isSame else { throw Violation("R3", "\(device) adds up \(found), not \(merged).") }
    }
}

extension Text {
    /// A plain number of the plan's: digits, and at most three after a point.
    fileprivate var thousandths: Int? {
        let parts = description.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = Int(parts[0]), whole >= 0 else { return nil }
        guard parts.count == 2 else { return whole * 1_000 }
        guard parts[1].count <= 3, let fraction = Int(parts[1] + String(repeating: "0", count: 3 - parts[1].count))
        else { return nil }
        return whole * 1_000 + fraction
    }
}
