import CRDT
import HTTPCoding
import Inventory
import LocalAPI
import Testing

@testable import muster

/// Whatever the daemon answers, what a person sees is drawn, and drives no terminal.
struct AnyTextTests {
    private static let texts = [
        "", " ", "\0", "\r\n", "\u{1B}[2J", "\u{202E}abc", "\u{2066}", "\u{301}", "\"\u{301}",
        "\u{1F468}\u{200D}\u{1F469}",
        "Caf\u{E9}", "\u{2028}", "\u{FDFA}", String(repeating: "\u{301}", count: 500),
        String(repeating: "花", count: 9_000),
        "9223372036854775807", "-1",
    ]
    private static let numbers: [Double] = [
        0, -0.0, 1, -1, 1e15, 1e16, -1e300, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity,
        .nan,
        9_223_372_036_854_775_808, 0.0005,
    ]
    private static let moments: [Int64] = [.min, -1, 0, 1_722_508_200_125, 253_402_300_800_000, .max]

    @Test("Numbers and moments of any size have a form", arguments: numbers)
    func written(number: Double) {
        for places in 0...2 { #expect(!Formats.decimal(number, places: places).isEmpty) }
        #expect(!Formats.quantity(number).isEmpty && !Formats.milliseconds(number).isEmpty)
        #expect(!Formats.duration(seconds: number).isEmpty && !Formats.offset(number, uncertainty: number).isEmpty)
        #expect(Formats.count(.min).hasPrefix("-9,223"))
        for moment in Self.moments.map(Timestamp.init(milliseconds:)) {
            #expect(
                !Formats.time(moment, now: Timestamp(milliseconds: 0)).isEmpty && !Formats.exactTime(moment).isEmpty)
        }
    }

    @Test("Lines, tables and the live view are drawn of any text", arguments: texts)
    func drawn(text: String) async throws {
        let moment = Timestamp(milliseconds: Self.moments.randomElement() ?? 0)
        func isHarmless(_ line: String) -> Bool {
            !line.unicodeScalars.contains { $0.value < 0x20 || (0x202A...0x202E).contains($0.value) }
        }
        let service = try await Scene().answers
        var job = try await service.job("0190", makesDigest: false)
        (job.name, job.items) = (text, .max)
        var peers = try await service.peers()
        for index in peers.indices { peers[index].name = text }
        var view = WatchView(job: job, peers: peers)
        for action in ChangeReport.Action.allCases {
            let change = ChangeReport(
                job: text, anchor: .max, at: moment, counter: .max, by: text, byName: text, sequence: .max, item: text,
                itemName: text, action: action, fields: [FieldChange(field: text, from: text, to: text)], note: text)
            view.add(change)
            for width in [1, 20, 80, 200] {
                #expect(isHarmless(ChangeLine(change).text(width: width, style: .plain)))
            }
        }
        for (width, height) in [(1, 1), (10, 3), (80, 24)] {
            let terminal = Terminal(isInteractive: true, width: width, height: height, style: .plain)
            #expect(view.lines(on: terminal).allSatisfy(isHarmless))
        }
        var table = Table([.whole(text), .text(text), .number(text)])
        table.add(Cell(text), Cell(text), Cell(text))
        table.add(Cell(text))
        #expect(table.lines(width: 30).dropFirst().allSatisfy(isHarmless))
        #expect(table.rows.map(Table.exactLine).allSatisfy { !$0.contains("\n") })
        var facts = Facts()
        facts.add("Name", text)
        for width in [0, 5, 80] { #expect(facts.lines(width: width, style: .plain).allSatisfy(isHarmless)) }
        #expect(Text.width(Text.fitted(Text.plain(text), to: 10)) <= 10)
        _ = ShortIDs([text, text + "a", ""])[text]
    }
}
