import Foundation
import LocalAPI
import Storage
import Systemd
import Testing

/// Errors are one sentence on standard error, and the exit code tells their kind.
@Suite(.timeLimit(.minutes(2)))
struct ExitCodeTests {
    static let failures: [([String], Int32)] = [
        (["job", "show", "nobody"], 65), (["item", "show", "0190", "2000000000145"], 65),
        (["job", "show", "secret"], 77), (["job", "show", "broken"], 70),
        (["job", "create", "--name", "x", "--id", Scene.jobID], 65), (["item", "show", "0190", "nothing"], 65),
        (["item", "set", "0190", Scene.removedItemID, "a=b"], 65),
        (["item", "restore", "0190", Scene.itemIDs[0]], 65),
    ]

    @Test("The manual page explains every exit code")
    func manual() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/man/muster.1"), encoding: .utf8)
        for code in SystemExit.allCases { #expect(page.contains("\n.TP\n\\fB\(code.rawValue)\\fR\n"), "\(code)") }
    }

    @Test("The exit codes are those of sysexits.h", arguments: failures)
    func codes(command: [String], code: Int32) async throws {
        let outcome = try await withDaemon(try await Scene().answers) { socket in
            try await MusterProcess.run(command, socket: socket)
        }
        #expect(outcome.exitCode == code)
        #expect(outcome.output == "")
        #expect(outcome.error.hasPrefix("muster: "))
        #expect(outcome.error.split(separator: "\n").count == 1)
    }

    @Test("What may work later exits with 75")
    func later() async throws {
        let scene = try await Scene()
        scene.anna.store.setDiskFull(true)
        let outcome = try await withDaemon(scene.answers) { socket in
            try await MusterProcess.run(["item", "add", "0190", "name=Lamp"], socket: socket)
        }
        #expect(outcome.exitCode == 75 && outcome.error.split(separator: "\n").count == 1)
    }

    @Test(
        "A command line that is wrong exits with 64",
        arguments: [
            ["job", "show"], ["item", "add", "x", "novalue"], ["item", "add", "x", "a=1", "a=2"], ["nonsense"],
            ["job", "create", "--name", "x", "--kind", "party"], ["completions", "cmd"], ["item", "add", "x"],
        ])
    func usage(command: [String]) async throws {
        let outcome = try await MusterProcess.run(command, socket: "/nowhere/m.sock")
        #expect(outcome.exitCode == 64)
        #expect(!outcome.error.isEmpty)
    }

    @Test(
        "Who types a wrong role is told those that the command takes",
        arguments: [
            ["fleet", "invite", "--role", "boss"], ["fleet", "invite", "--role", "proxy"],
            ["fleet", "sign", "--role", "boss", "-"],
        ])
    func role(command: [String]) async throws {
        let outcome = try await MusterProcess.run(command)
        let roles = "reader, member, lead, office, server" + (command[1] == "sign" ? ", proxy" : "")
        #expect(outcome.exitCode == 64 && outcome.output.isEmpty)
        #expect(
            outcome.error.contains("--role <role>': take one of \(roles). See 'muster fleet \(command[1]) --help'."))
    }

    @Test("A daemon that is not there is told at once, with what to do")
    func unreachable() async throws {
        let start = ContinuousClock.now
        let outcome = try await MusterProcess.run(["status", "--socket", "/tmp/muster-nobody.sock"])
        #expect(outcome.exitCode == 69)
        #expect(outcome.error.contains("systemctl start musterd"))
        #expect(ContinuousClock.now - start < .seconds(5))
    }
}
