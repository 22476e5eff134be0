import Testing
import Usage

@testable import muster

@Suite("Commands that somebody has mistyped")
struct CommandNamesTests {
    @Test(
        "The nearest one is offered",
        arguments: [
            (["jbo", "list"], "muster job"), (["job", "lst"], "muster job list"),
            (["item", "ad", "x"], "muster item add"),
            (["help", "jbo"], "muster job"), (["help", "job", "lsit"], "muster job list"),
            (["stauts"], "muster status"), (["fleet", "Revok"], "muster fleet revoke"),
        ])
    func nearest(words: [String], meant: String) throws {
        let sentence = try #require(CommandNames.mistake(in: words, of: Muster.self))
        #expect(sentence.contains("did you mean '\(meant)'?") && sentence.contains("There is no command"))
    }

    @Test(
        "Where nothing is near, the help is named",
        arguments: [["frobnicate"], ["foo"], ["job", "frobnicate"], ["help", "xyzzy"]])
    func nothingNear(words: [String]) throws {
        let command = words.first == "job" ? "muster job" : "muster"
        #expect(try #require(CommandNames.mistake(in: words, of: Muster.self)).contains("see '\(command) --help'"))
    }

    @Test(
        "What names a command is left alone, whatever follows it",
        arguments: [
            [], ["status"], ["--help"], ["--version"], ["help"], ["help", "job", "list"], ["job"], ["job", "help"],
            ["job", "--help"], ["job", "ls"], ["item", "rm", "lst", "jbo"], ["ps"], ["queue", "ls", "--json"],
            ["import", "jbo", "file.csv"],
        ])
    func names(words: [String]) {
        #expect(CommandNames.mistake(in: words, of: Muster.self) == nil)
    }
}
