import Foundation
import Testing

@testable import muster

/// What was typed of a command line, and how each shell takes what is offered for it.
@Suite("Completions")
struct CompletionTests {
    @Test("A line is split as a shell splits it, also where a quotation mark is still open")
    func split() {
        let words = CommandLineWords(line: #"muster item  show 'it'\''s "a" b' --socket /x "Sm\"i"#)
        #expect(words.before == ["item", "show", #"it's "a" b"#, "--socket", "/x"])
        #expect(words.current == #"Sm"i"# && words.openQuote == "\"")
        #expect(words.positionals(of: "muster item show") == [#"it's "a" b"#])
        #expect(words.value(of: "--socket") == "/x" && words.value(of: "--where") == nil)
        #expect(CommandLineWords(line: "muster job show ").current == "")
        #expect(CommandLineWords(line: #"muster job show a\ b"#).current == "a b")
        #expect(
            CommandLineWords(line: "muster item list J --json --where x=1 ").positionals(of: "muster item list") == [
                "J"
            ])
    }

    @Test("bash gets an offer as it is typed there, without the part before a colon where it breaks words")
    func bash() {
        let offer = Offer("a: $(x) it's", "")
        func line(_ typed: String, piece: String) -> String {
            Shell.bash.line(offer, for: CommandLineWords(line: "muster job show " + typed), piece: piece)
        }
        #expect(line("a", piece: "a") == #"a:\ \$\(x\)\ it\'s"#)
        #expect(line(#"a:\ "#, piece: #"\ "#) == #"\ \$\(x\)\ it\'s"#)
        #expect(line(#""a: "#, piece: "a: ") == #"a: \$(x) it's"#)
        #expect(line("'a: ", piece: "a: ") == #"a: $(x) it'\''s"#)
    }

    @Test("A name that ends in the mark that is open ends the quotation before it, since readline does not")
    func endingInQuote() {
        func line(_ name: String, _ typed: String) -> String {
            Shell.bash.line(
                Offer(name), for: CommandLineWords(line: "muster job show " + typed), piece: String(typed.dropFirst()))
        }
        #expect(line(#"Say "hi""#, "\"Sa") == #"Say \"hi"\""#)
        #expect(line(#"a"""#, "\"a") == #"a\""\""#)
        #expect(line("the Smiths'", "'the") == #"the Smiths'\'"#)
        #expect(line("the Smiths'", "\"the") == "the Smiths'", "which readline ends")
    }

    @Test("zsh and fish are told what is meant, behind their own marks")
    func meaning() {
        let words = CommandLineWords(line: "muster job show ")
        #expect(Shell.zsh.line(Offer("a:b", "3 items"), for: words, piece: nil) == #"a\:b:3 items"#)
        #expect(Shell.fish.line(Offer("a:b", "3 items"), for: words, piece: nil) == "a:b\t3 items")
        #expect(Shell.fish.line(Offer("room=", ""), for: words, piece: nil) == "room=")
    }

    @Test("zsh reads neither a colon nor a backslash of a name as its own, whatever mark stands on it")
    func marks() {
        let words = CommandLineWords(line: "muster job show ")
        let offer = Offer("a\\b:\u{301}c", "x:y")
        #expect(Shell.zsh.line(offer, for: words, piece: nil) == "a\\\\b\\:\u{301}c:x\\:y")
    }

    @Test("What a terminal would obey is not offered, and of too many the first and the last")
    func chosen() {
        let offers = ["b", "a\u{1b}[2J", "ab", "a"].map { Offer($0) }
        #expect(Offer.chosen(offers, typed: "a").map(\.word) == ["ab", "a"])
        let many = (0..<250).map { Offer("5\(1000 + $0)") } + [Offer("59"), Offer("50")]
        let chosen = Offer.chosen(many, typed: "").map(\.word)
        #expect(
            chosen.count == 200 && Set(chosen).isSuperset(of: ["50", "59"]), "so that a shell types no more than 5")
    }

    @Test("A thing goes by its name where it alone has it, by its short id else, and by its id where one was begun")
    func naming() {
        let ids = (0..<4).map { "0195ae5c-90ab-7cde-8f01-23456789abc\($0)" }
        let things = zip(ids, ["Jones", "Smith", "Smith", "--json"]).map { Thing(id: $0, name: $1, meaning: "") }
        let short = ShortIDs(ids)
        func offers(_ typed: String) -> [String] {
            Offer.naming(things, short: short, typed: typed).map(\.word)
        }
        #expect(offers("") == ["Jones"] + ids.dropFirst().map { short[$0] })
        #expect(offers("J") == ["Jones"] && offers("Sm") == [], "no name that several have, and no option")
        #expect(offers(ids[0]) == [ids[0]] && offers(short[ids[0]]) == [short[ids[0]]])
    }

    @Test("Columns go on behind a comma, none twice")
    func columns() {
        #expect(Offer.columns(["id", "name"], typed: "").map(\.word) == ["id", "name"])
        #expect(Offer.columns(["id", "name"], typed: "id,n").map(\.word) == ["id,name"])
    }

    @Test("Every option without a value is known")
    func flags() async throws {
        struct Help: Decodable {
            struct Command: Decodable {
                let arguments: [Argument]?
                let subcommands: [Command]?
                var all: [Argument] { (arguments ?? []) + (subcommands ?? []).flatMap(\.all) }
            }
            struct Argument: Decodable {
                let kind: String
                let names: [Name]?
            }
            struct Name: Decodable {
                let kind: String
                let name: String
            }
            let command: Command
        }
        let outcome = try await MusterProcess.run(["--experimental-dump-help"])
        let help = try JSONDecoder().decode(Help.self, from: Data(outcome.output.utf8))
        func names(of kind: String) -> Set<String> {
            let names = help.command.all.filter { $0.kind == kind }.flatMap { $0.names ?? [] }
            return Set(names.filter { $0.kind == "long" }.map { "--" + $0.name })
        }
        #expect(names(of: "flag").isSubset(of: CommandLineWords.flags))
        #expect(names(of: "option").isDisjoint(with: CommandLineWords.flags))
    }
}
