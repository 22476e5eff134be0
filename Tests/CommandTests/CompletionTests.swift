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

    @Test("zsh and fish are told what is meant, behind their own marks")
    func meaning() {
        let words = CommandLineWords(line: "muster job show ")
        #expect(Shell.zsh.line(Offer("a:b", "3 items"), for: words, piece: nil) == #"a\:b:3 items"#)
        #expect(Shell.fish.line(Offer("a:b", "3 items"), for: words, piece: nil) == "a:b\t3 items")
        #expect(Shell.fish.line(Offer("room=", ""), for: words, piece: nil) == "room=")
    }
}
