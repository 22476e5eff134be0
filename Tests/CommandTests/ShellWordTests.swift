import Foundation
import Testing

@testable import muster

/// What is printed to be pasted is read by a shell as the one word that it stands for, whoever has chosen it.
@Suite("Words of a shell")
struct ShellWordTests {
    @Test(
        "bash and sh read the word that was meant, and run nothing",
        arguments: [
            "Elm", "Smith, 12 Elm Street", "it's", "a\"b", "$HOME", "`id`", "\\", "!x", "", "-n", "~", "a;b", "花瓶",
            "`\u{301};touch PWNED;`\u{301}", "'\u{301};touch PWNED;'\u{301}", "\"\u{301};touch PWNED;\"\u{301}",
            "$\u{301}(id)",
            "a\\\u{301}",
        ])
    func words(text: String) throws {
        for shell in ["/bin/sh", "/bin/bash"] {
            let process = Process()
            process.executableURL = URL(filePath: shell)
            process.currentDirectoryURL = FileManager.default.temporaryDirectory
            process.arguments = ["-c", "printf '%s|' \(ShellWord.quoted(text)) end"]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let said = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            #expect(Array(said) == Array("\(text)|end|".utf8), "\(shell): \(ShellWord.quoted(text))")
        }
    }
}
