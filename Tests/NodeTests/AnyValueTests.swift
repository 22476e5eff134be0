import CRDT
import Engine
import Foundation
import HTTPCoding
import Inventory
import LocalAPI
import LocalAPIServer
import Storage
import Testing

@testable import Node

/// Whatever stands in a field, every way to read it works, and shows it.
@Suite("Any value", .timeLimit(.minutes(3)))
struct AnyValueTests {
    static let fields: [FieldName] = [
        "barcode", "category", "name", "room", "quantity", "condition", "volumeCubicFeet", "replaces", "notes",
        "odd name",
        "author.x", "Caf\u{E9}", "Cafe\u{301}", "\"\u{301}", "a\0b", "id",
    ]

    @Test(
        "Random values survive every reading path, as the bytes that they are", arguments: 1...24 as ClosedRange<UInt64>
    )
    func reads(seed: UInt64) async throws {
        var values = RandomValues(seed: seed)
        let (anna, bert) = (try await Laptop("anna"), try await Laptop("bert\u{202E}\"\u{301},"))
        let job = try #require(JobID("job"))
        var all: [ItemID: [FieldName: String]] = [:]
        for number in 1...6 {
            let id = ItemID(UInt128(number))
            var written: [FieldName: String] = [:]
            for field in Self.fields where values.next(below: 3) > 0 { written[field] = values.value() }
            if written.isEmpty { written["name"] = values.value() }
            for (field, value) in written.sorted(by: { $0.key < $1.key }) {
                try await anna.put([(field, value)], item: id, job: job)
            }
            all[id] = written
        }
        // The other laptop knows nothing of them, and writes the same fields: conflicts.
        for number in 1...3 {
            let id = ItemID(UInt128(number))
            for field in Self.fields.prefix(4) { try await bert.put([(field, values.value())], item: id, job: job) }
        }
        let remark = values.value()
        _ = try await bert.store.edit(
            job: job, now: { [clock = bert.service.clock] in clock.now }, [.note(item: ItemID(1), text: remark)])
        try await bert.put([("name", values.value()), ("kind", values.value())], item: .job, job: job)
        let applied = try await bert.send(job, to: anna)
        try await read(anna, job, applied: applied, of: values)
        // Exports and filters hold the bytes, of an item that only one laptop wrote.
        let rows = Cells.parse(try await anna.exported(job, .csv))
        for (id, written) in all where id > ItemID(3) {
            try await expectBytes(of: id, written, in: rows, on: anna, job)
        }
    }

    private func read(_ anna: Laptop, _ job: JobID, applied: [AppliedChange], of values: RandomValues) async throws {
        let service = anna.service
        try roundTrip(try await service.summary(job: job.text))
        try roundTrip(try await service.conflicts(job: job.text))
        try roundTrip(try await service.check(job: job.text))
        try roundTrip(try await service.job(job.text))
        try roundTrip(try await service.jobs())
        try roundTrip(try await service.status())
        var ids: [String] = []
        for view in try await anna.items(job.text) {
            try roundTrip(view)
            ids.append(view.id)
        }
        #expect(ids.count == 6)
        for id in ids { try roundTrip(try await service.item(id, job: job.text)) }
        var changes = 0
        for try await batch in try await service.log(job: job.text, item: nil) {
            for change in batch { try roundTrip(change) }
            changes += batch.count
        }
        #expect(changes > 6)
        let reporter = ChangeReporter(job: try await anna.store.job(job))
        let sessions = try await anna.store.workSessions(of: job)
        for change in applied { try roundTrip(Event.change(reporter.report(change, sessions))) }
        let export = try await anna.exported(job, .json)
        _ = try JSONSerialization.jsonObject(with: Data(export))
    }

    private func expectBytes(
        of id: ItemID, _ written: [FieldName: String], in rows: [[[UInt8]]], on anna: Laptop, _ job: JobID
    ) async throws {
        #expect(rows.count == 7 && Set(rows.map(\.count)).count == 1)
        let header = rows[0]
        let row = try #require(rows.first { $0[0] == Array(id.description.utf8) })
        for (field, value) in written {
            // A field named like the first or the last column has a column of its own beside it.
            let columns = header.indices.filter { header[$0] == Array(field.text.utf8) }
            #expect(columns.contains { row[$0] == Array(value.utf8) }, "\(field)")
        }
        let state = try #require(try await anna.store.item(id, job: job))
        for (field, value) in written {
            #expect(state.value(of: field).map { FieldText.isSame($0, value) } == true, "\(field)")
        }
    }

    /// As it goes to a client and is read there.
    private func roundTrip<Value: Codable & Equatable>(_ value: Value) throws {
        let bytes = try JSON.encode(value)
        #expect(try JSON.decode(Value.self, from: bytes) == value)
    }
}

/// Values that have broken programs of this kind, from a seed.
struct RandomValues {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private static let numbers = [
        "0", "1", "-1", "999999999", "999999999.999", "1000000000", "9223372036854775807", "-9223372036854775808",
        "18446744073709551616", "1e308", "nan", "inf", "0.0005", "00012", ".", "1,5", "١٢", "0x10", "+7",
    ]
    private static let texts = [
        "", " ", "\t", "\r\n", "\r", "\n", "\0", "AB\0one", "AB", "a\"b", "\"", "\"\u{301}", ",\u{301}", "a,b",
        "\u{FEFF}x",
        "Caf\u{E9}", "Cafe\u{301}", "\u{202E}abc", "\u{2066}x", "\u{1F6CB}\u{FE0F}", "\u{1F468}\u{200D}\u{1F469}",
        "e\u{301}\u{302}\u{303}",
        "\u{0}\u{1}\u{1F}\u{7F}\u{85}", "=1+1", "\u{1B}[2J", "\u{2028}", "\u{FFFF}", "\u{10FFFF}", "sofa-3-seat",
        "null", "{}",
        "%00", "\\", "\\u0000", "'; DROP TABLE item; --", "\u{FDFA}", "\u{1100}\u{1161}",
    ]

    mutating func next() -> UInt64 { generator.next() }

    mutating func next(below bound: Int) -> Int { Int(next() % UInt64(bound)) }

    mutating func value() -> String {
        // As long as a value may be: seldom, because it takes long.
        if next(below: 150) == 0 { return String(repeating: "\"a,\u{301}", count: 64 * 1024 / 5) }
        switch next(below: 9) {
        case 0...3: return Self.numbers[next(below: Self.numbers.count)]
        case 4...6: return Self.texts[next(below: Self.texts.count)]
        case 7: return Self.texts[next(below: Self.texts.count)] + Self.texts[next(below: Self.texts.count)]
        default:
            var text = ""
            for _ in 0..<next(below: 40) {
                let number = UInt32(next(below: 0x11_0000))
                text.unicodeScalars.append(Unicode.Scalar(number) ?? "\u{FFFD}")
            }
            return text
        }
    }
}
