import Glibc
import HTTPCoding
import LocalAPI
import Testing

@testable import muster

struct TerminalTests {
    @Test("A table fits the width, cuts only flexible columns, and lines numbers up")
    func table() {
        var table = Table([.whole("ID"), .text("NAME"), .number("QTY")])
        table.add("0190f5fe", "a name that is much longer than the others in this table", "1")
        table.add("0190f5ff", "花瓶", "12,000")
        let lines = table.lines(width: 40)
        #expect(lines.allSatisfy { Text.width($0) <= 40 })
        #expect(
            lines == [
                "ID        NAME                       QTY",
                "0190f5fe  a name that is much l…       1",
                "0190f5ff  花瓶                    12,000",
            ])
    }

    @Test("A long value goes on below itself, and one that fits stays as it is")
    func facts() {
        var facts = Facts()
        facts.add("Job", "Elm  Street")
        facts.add("Remedy", "connect this laptop to another one, or to the server")
        #expect(
            facts.lines(width: 40, style: .plain) == [
                "Job     Elm  Street", "Remedy  connect this laptop to another", "        one, or to the server",
            ])
    }

    @Test("Text from other devices cannot drive the terminal")
    func plain() {
        #expect(Text.plain("a\u{1B}[31mb\nc\u{202E}d") == "a\u{FFFD}[31mb c\u{FFFD}d")
    }

    @Test("Short ids are as long as they must be to differ")
    func shortIDs() {
        let ids = [
            "0190f5fe-7c00-7000-8000-0123456789ab", "0190f5fe-7c00-7000-8000-ffff456789ab", "Oak-2024-000017",
            "01234567" + String(repeating: "a", count: 24), "01234567" + String(repeating: "b", count: 24),
        ]
        let short = ShortIDs(ids)
        let parts = ["3456789ab", "f456789ab", "Oak-2024-000017", "01234567a", "01234567b"]
        #expect(ids.map { short[$0] } == parts)
        #expect(ShortIDs([ids[0]])[ids[0]] == "6789ab" && ShortIDs.one(ids[0]) == "456789ab")
    }

    @Test("A short id is no number, which could be a barcode, and has no hyphen, which may begin an option")
    func shortIDsAreNoBarcodes() {
        let ids = [
            "0190f5fe-7c00-7000-8000-000000000001", "0190f5fe-7c00-7000-8000-00000a000002",
            "0190f5fe-7c00-7000-81b3-479946769842", "01900000-0000-7000-8000-000000000003",
        ]
        let parts = ["c0070008000000000000001", "a000002", "b3479946769842", ids[3]]
        #expect(ids.map { ShortIDs(ids)[$0] } == parts)
        #expect(ids.map(ShortIDs.one) == [parts[0], "0a000002", parts[2], ids[3]], "nothing but digits stays whole")
    }

    @Test("Numbers have a comma every three digits")
    func numbers() {
        #expect(Formats.count(0) == "0")
        #expect(Formats.count(69_202) == "69,202")
        #expect(Formats.decimal(1234.56) == "1,234.6")
        #expect(Formats.decimal(0.05, places: 2) == "0.05")
        #expect(Formats.quantity(1.5) == "1.5")
    }

    @Test("A command in quotation marks that fits a line is not broken, since people copy it")
    func wrappedCommand() {
        let text = "It waits; see 'muster queue list' and drop it."
        #expect(Text.wrapped(text, to: 24) == ["It waits; see", "'muster queue list' and", "drop it."])
        #expect(Text.wrapped("see ('muster job log'), it's all", to: 19) == ["see", "('muster job log'),", "it's all"])
        #expect(Text.wrapped("see 'muster queue list'", to: 10) == ["see", "'muster", "queue", "list'"])
        #expect(Text.wrapped("see 'muster never ends", to: 40) == ["see 'muster never ends"])
    }

    @Test("The live view fits the terminal and shows the newest change last")
    func watchView() async throws {
        setenv("TZ", "UTC", 1)
        tzset()
        let scene = try await Scene()
        var view = WatchView(
            job: try await scene.answers.job("0190", makesDigest: false), peers: try await scene.answers.peers())
        for change in try await scene.changes() { view.add(change) }
        for (width, height) in [(80, 24), (40, 10), (132, 43)] {
            let terminal = Terminal(isInteractive: true, width: width, height: height, style: .plain)
            let lines = view.lines(on: terminal)
            #expect(lines.count == height)
            #expect(lines.allSatisfy { Text.width($0) <= width }, "\(lines)")
        }
        let terminal = Terminal(isInteractive: true, width: 80, height: 14, style: .plain)
        try expectSnapshot(view.lines(on: terminal).joined(separator: "\n") + "\n", "watch-view")
    }

    @Test("The live view puts a change at its place in the timeline, whenever it arrives")
    func watchOrder() async throws {
        let scene = try await Scene()
        var view = WatchView(job: try await scene.answers.job("0190", makesDigest: false), peers: [])
        var ordered = Array(try await scene.changes().prefix(4))
        // The server's order stands above every clock.
        ordered[3].anchor = 1
        ordered[3].at = Timestamp(milliseconds: 0)
        for arrival in [[3, 1, 0, 2], [2, 3, 1, 0], [0, 1, 2, 3]] {
            var watched = view
            for index in arrival { watched.add(ordered[index]) }
            #expect(watched.changes == ordered)
        }
        var entry = ordered[3]
        entry.by = String(repeating: "0", count: 32)
        entry.at = .now
        view.add(ordered[3])
        view.add(entry)
        #expect(view.changes == [entry, ordered[3]], "the channel's own entry stands first at its anchor")
    }

    @Test("A view tells since when no daemon answers, and when one does again that it may have missed something")
    func missed() async throws {
        let scene = try await Scene()
        var view = WatchView(job: try await scene.answers.job("0190", makesDigest: false), peers: [])
        let terminal = Terminal(isInteractive: true, width: 80, height: 24, style: .plain)
        view.daemonAnswers()
        #expect(view.lines(on: terminal).last == "Ctrl-C ends")
        view.daemonIsAway(at: Timestamp(milliseconds: 1_000))
        view.daemonIsAway(at: Timestamp(milliseconds: 90_000))
        #expect(view.lines(on: terminal).last?.contains("No daemon answers since") == true)
        #expect(view.awaySince == Timestamp(milliseconds: 1_000), "since it went")
        view.daemonAnswers()
        view.daemonAnswers()
        #expect(
            view.lines(on: terminal).last
                == "The daemon was away meanwhile: 'muster job log' has all changes. Ctrl-C ends")
    }
}
