import CRDT
import Foundation
import Inventory
import LocalAPI
import Storage
import Testing

@testable import Node

/// The export as a table.
@Suite(.timeLimit(.minutes(1)))
struct TableExportTests {
    @Test("A table is of one state: what is written while it is read does not show")
    func oneState() async throws {
        let directory = NSTemporaryDirectory() + "muster-table-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let anna = try await Laptop("anna", path: directory + "/store.sqlite")
        let job = try #require(JobID("smith"))
        for index in 1...600 {
            // Long enough for several pieces.
            let fields: [(FieldName, String)] = [
                ("name", "thing \(index)"), ("category", String(repeating: "x", count: 200)),
            ]
            try await anna.put(fields, item: ItemID(UInt128(index)), job: job)
        }
        let table = try anna.store.exportCursor(of: job, as: CSVExport())
        try await anna.put([("room", "Hall")], item: ItemID(1), job: job)
        var bytes = try #require(try await table.next())
        #expect(bytes.starts(with: Array("id,category,name,notes\r\n".utf8)) && bytes.count < 100_000)
        try await anna.put([("colour", "red"), ("name", "late")], item: ItemID(599), job: job)
        while let piece = try await table.next() { bytes += piece }
        let rows = Cells.parse(bytes)
        #expect(rows.count == 601 && rows.allSatisfy { $0.count == 4 })
        #expect(rows[599][2] == Array("thing 599".utf8))
        let now = Cells.parse(try await anna.exported(job, .csv))
        let titles = now[0].map { String(decoding: $0, as: UTF8.self) }
        #expect(titles == ["id", "category", "colour", "name", "room", "notes"])
        try anna.store.close()
    }
}

/// RFC 4180 read the slow and obvious way.
enum Cells {
    static func parse(_ bytes: [UInt8]) -> [[[UInt8]]] {
        var rows: [[[UInt8]]] = []
        var row: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            var cell: [UInt8] = []
            if rest.first == UInt8(ascii: "\"") {
                rest = rest.dropFirst()
                while let byte = rest.popFirst() {
                    if byte == UInt8(ascii: "\"") {
                        guard rest.first == UInt8(ascii: "\"") else { break }
                        rest = rest.dropFirst()
                    }
                    cell.append(byte)
                }
            } else {
                while let byte = rest.first, byte != UInt8(ascii: ","), byte != UInt8(ascii: "\r") {
                    cell.append(byte)
                    rest = rest.dropFirst()
                }
            }
            row.append(cell)
            if rest.first == UInt8(ascii: ",") {
                rest = rest.dropFirst()
                if rest.starts(with: Array("\r\n".utf8)) { row.append([]) } else { continue }
            }
            precondition(rest.starts(with: Array("\r\n".utf8)), "a record ends with CRLF")
            rest = rest.dropFirst(2)
            rows.append(row)
            row = []
        }
        return rows
    }
}
