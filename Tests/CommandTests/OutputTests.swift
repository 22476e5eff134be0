import HTTPCoding
import LocalAPI
import LocalAPIServer
import Testing

@testable import Node
@testable import muster

/// What the commands print, for people and for scripts, against a service that always says the same.
@Suite(.timeLimit(.minutes(2)))
struct OutputTests {
    static let job = "Smith, 12 Elm Street"
    static let commands: [[String]] = [
        ["status"], ["doctor"], ["peers"], ["peers", "add", "192.168.1.20"], ["peers", "address"], ["metrics"],
        ["clock"],
        ["job", "create", "--name", "Jones"], ["job", "list"],
        ["job", "show", job], ["job", "rename", job, "Jones"],
        ["job", "log", job], ["job", "summary", job], ["job", "conflicts", job], ["job", "check", job],
        ["job", "export", job], ["job", "roster", job], ["job", "late", Scene.removedJobID],
        ["job", "remove", job, "--yes"],
        ["item", "add", job, "name=Sofa"], ["item", "set", job, "2000000000091", "room=Hall"],
        ["item", "note", job, "2000000000091", "scratched"], ["item", "remove", job, "2000000000091"],
        ["item", "restore", job, Scene.removedItemID], ["item", "list", job],
        ["item", "show", job, "2000000000091"], ["job", "advance", job, "completed"],
        ["job", "sign-off", job, "--name", "J. Smith"], ["queue", "list"],
        ["queue", "show", "{token 0}"], ["queue", "retry", "{token 0}"], ["queue", "drop", "{token 0}"],
        ["queue", "pause"], ["queue", "resume"], ["queue", "log"],
    ]

    @Test("For people: tables of at most 80 columns, without colour when it is no terminal", arguments: commands)
    func people(command: [String]) async throws {
        let scene = try await Scene()
        let outcome = try await withDaemon(scene.answers) { socket in
            try await MusterProcess.run(scene.filled(command), socket: socket, environment: ["COLUMNS": "80"])
        }
        #expect(outcome.error == "")
        #expect(outcome.exitCode == 0)
        #expect(!outcome.output.contains("\u{1B}"))
        // The doctor says everything about one thing in one line, and an export is for programs.
        let limit = command == ["doctor"] ? 300 : command.contains("export") ? .max : 80
        for line in outcome.output.split(separator: "\n") { #expect(line.count <= limit, "\(line)") }
        try expectSnapshot(
            outcome.output, "people-" + Self.name(command))
    }

    static let lists: [[String]] = [
        ["peers"], ["job", "list"], ["job", "roster", job], ["item", "list", job], ["queue", "list"], ["queue", "log"],
    ]

    @Test("A list fits every terminal, with what can be typed whole", arguments: lists, [60, 80, 120])
    func widths(command: [String], columns: Int) async throws {
        let scene = try await Scene()
        let (shown, exact) = try await withDaemon(scene.answers) { socket in
            (
                try await MusterProcess.run(command, socket: socket, environment: ["COLUMNS": "\(columns)"]).output,
                try await MusterProcess.run(command, socket: socket).output
            )
        }
        for line in shown.split(separator: "\n") { #expect(Text.width(String(line)) <= columns, "\(line)") }
        let ids = exact.split(separator: "\n").flatMap { $0.split(separator: "\t") }.filter { $0.count >= 32 }
            .filter { $0.allSatisfy { $0.isHexDigit || $0 == "-" } }.map(String.init)
        // Of laptops the name is shown.
        guard command != ["peers"], command != ["queue", "log"], command.dropFirst().first != "roster" else { return }
        #expect(!ids.isEmpty)
        for id in ids {
            let isShown = shown.split(separator: "\n").contains { line in
                guard let word = line.split(separator: " ").first.map(String.init) else { return false }
                let digits = id.filter { $0 != "-" }
                return word.count >= 6 && !word.contains("-") && (digits.hasPrefix(word) || digits.hasSuffix(word))
            }
            #expect(isShown, "\(id) in \(shown)")
        }
    }

    @Test("Piped, a list is exact: tabs between, no titles, nothing cut", arguments: lists)
    func piped(command: [String]) async throws {
        let scene = try await Scene()
        let outcome = try await withDaemon(scene.answers) { socket in
            try await MusterProcess.run(scene.filled(command), socket: socket)
        }
        #expect(outcome.exitCode == 0)
        try expectSnapshot(outcome.output, "piped-" + Self.name(command))
    }

    private static func name(_ command: [String]) -> String {
        command.prefix(2).filter { $0 != job }.joined(separator: "-")
    }

    @Test("For scripts: stable JSON", arguments: commands)
    func scripts(command: [String]) async throws {
        let scene = try await Scene()
        let outcome = try await withDaemon(scene.answers) { socket in
            try await MusterProcess.run(scene.filled(command) + ["--json", "--socket", socket])
        }
        #expect(outcome.error == "")
        #expect(outcome.exitCode == 0)
        try expectSnapshot(outcome.output, "json-" + Self.name(command))
    }

    @Test("A finished mutation is shown with what came of it, when, and who asked for it")
    func finished() async throws {
        let scene = try await Scene()
        let outcome = try await withDaemon(scene.answers) { socket in
            try await MusterProcess.run(scene.filled(["queue", "show", "{token 2}"]), socket: socket)
        }
        for words in ["advance to inProgress", "rejected", "The job is completed.", "bert-laptop", "by the office"] {
            #expect(outcome.output.contains(words))
        }
        #expect(outcome.exitCode == 0)
    }

    @Test("A job says who has signed and waits for the server, and what late work there is to decide on")
    func waiting() async throws {
        let scene = try await Scene()
        _ = try await scene.service.signOff(SignOffRequest(name: "J. Smith"), job: Self.job)
        let (signed, removed) = try await withDaemon(scene.answers) { socket in
            let signed = try await MusterProcess.run(["job", "show", Self.job], socket: socket)
            return (signed, try await MusterProcess.run(["job", "show", Scene.removedJobID], socket: socket))
        }
        #expect(signed.output.contains("Signed\tby J. Smith (waits for the server)\n"))
        #expect(
            removed.output.contains("Late work\t2 changes to decide on (see: muster job late \(Scene.removedJobID))\n"))
    }

    @Test("What was changed after the signature is counted by 'job show' and listed by 'job summary', in 80 columns")
    func amended() async throws {
        let scene = try await Scene()
        _ = try await scene.service.signOff(SignOffRequest(name: "J. Smith"), job: Self.job)
        let item = try await scene.service.addItem(FieldsRequest(fields: ["name": "Stool"]), job: Self.job).id
        _ = try await scene.service.setFields(
            FieldsRequest(fields: ["room": "Den"]), item: "2000000000091", job: Self.job)
        let outputs = try await withDaemon(scene.answers) { socket in
            var outputs: [String] = []
            for command in [["show"], ["summary"], ["summary", "--json"]] {
                outputs.append(
                    try await MusterProcess.run(
                        ["job", command[0], Self.job] + command.dropFirst(), socket: socket,
                        environment: ["COLUMNS": "80"]
                    ).output)
            }
            return outputs
        }
        #expect(outputs[0].contains("by J. Smith (waits for the server), 2 amendments since\n"))
        #expect(outputs[1].contains("ITEM") && outputs[1].contains("Stool") && outputs[1].contains("Den"))
        for line in outputs[0...1].joined().split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        #expect(outputs[2].contains(item) && outputs[2].contains(#""standing" : "amended""#))
    }

    @Test("A mutation that nobody knows is refused with one sentence")
    func unknownMutation() async throws {
        let outcome = try await withDaemon(try await Scene().answers) { socket in
            try await MusterProcess.run(["queue", "show", "ffff"], socket: socket)
        }
        #expect(outcome.exitCode == 65 && outcome.output == "")
        #expect(outcome.error.split(separator: "\n").count == 1 && outcome.error.contains("'ffff'"))
    }

    @Test("A retry says what it still waits for")
    func retryBehindAnother() async throws {
        let scene = try await Scene()
        let outcome = try await withDaemon(scene.answers) { socket in
            try await MusterProcess.run(scene.filled(["queue", "retry", "{token 1}"]), socket: socket)
        }
        #expect(outcome.output == "Will advance to awaitingSignature after what goes before it in its job.\n")
    }

    @Test("A job is paused and resumed by its name")
    func pause() async throws {
        let scene = try await Scene()
        for command in ["pause", "resume"] {
            let outcome = try await withDaemon(scene.answers) { socket in
                try await MusterProcess.run(["queue", command, Self.job], socket: socket)
            }
            #expect(outcome.output.hasPrefix("What concerns \(Self.job) "))
        }
    }

    @Test("A filter names a field and its value")
    func filter() async throws {
        let outcome = try await withDaemon(try await Scene().answers) { socket in
            try await MusterProcess.run(["item", "list", Self.job, "room=Living room", "--json"], socket: socket)
        }
        let items = try JSON.decode([ItemView].self, from: Array(outcome.output.utf8))
        #expect(items.map(\.id) == [Scene.itemIDs[0]] && items[0].fields["room"] == "Living room")
    }

    @Test("A job and an item reach the daemon as they were written, whatever their characters")
    func references() async throws {
        let outcome = try await withDaemon(try await Scene().answers) { socket in
            try await MusterProcess.run(["job", "show", "a/b c?d=ü%25#e"], socket: socket)
        }
        #expect(outcome.error == "muster: There is no job 'a/b c?d=ü%25#e' here; 'muster job list' shows the jobs.\n")
    }

    @Test("Different copies make the check exit with 1 and name what is missing where")
    func different() async throws {
        let outcome = try await withDaemon(try await Scene(.different).answers) { socket in
            try await MusterProcess.run(["job", "check", Self.job], socket: socket)
        }
        #expect(outcome.exitCode == 1)
        #expect(outcome.output.contains("missing on bert-laptop: 7 changes (17–23) by anna-laptop"))
        #expect(outcome.output.contains("missing here: 1 change (10) by 2e2e2e2e"))
        #expect(outcome.output.contains("\nDifferent: bert-laptop. "), "and what it comes to")
    }

    @Test("Exports are the daemon's bytes")
    func exports() async throws {
        let scene = try await Scene()
        let outcome = try await withDaemon(scene.answers) { socket in
            try await MusterProcess.run(["job", "export", Self.job, "--format", "csv"], socket: socket)
        }
        var bytes: [UInt8] = []
        for try await chunk in try await scene.service.export(job: Self.job, format: .csv) { bytes += chunk }
        #expect(Array(outcome.output.utf8) == bytes && outcome.output.hasPrefix("id,barcode,"))
    }
}
