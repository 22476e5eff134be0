import HTTPCoding
import LocalAPI
import Synchronization
import Testing

/// What the commands print, for people and for scripts, against a daemon that always says the same.
@Suite(.timeLimit(.minutes(2)))
struct OutputTests {
    static let job = "Smith, 12 Elm Street"
    static let commands: [[String]] = [
        ["status"], ["doctor"], ["peers"], ["clock"], ["job", "create", "--name", "Jones"], ["job", "list"],
        ["job", "show", job],
        ["job", "log", job], ["job", "summary", job], ["job", "conflicts", job], ["job", "check", job],
        ["job", "export", job], ["job", "roster", job], ["job", "late", job], ["job", "remove", job, "--yes"],
        ["item", "add", job, "name=Sofa"], ["item", "set", job, "2000000000091", "room=Hall"],
        ["item", "note", job, "2000000000091", "scratched"], ["item", "remove", job, "2000000000091"],
        ["item", "restore", job, FakeService.removedItemID], ["item", "list", job],
        ["item", "show", job, "2000000000091"], ["job", "advance", job, "dispatched"],
        ["job", "sign-off", job, "--name", "J. Smith"], ["queue", "list"],
        ["queue", "show", "3f2a90c1"], ["queue", "retry", "3f2a90c1"], ["queue", "drop", "3f2a90c1"],
        ["queue", "pause"], ["queue", "resume"], ["queue", "log"],
    ]

    @Test("For people: tables of at most 80 columns, without colour when it is no terminal", arguments: commands)
    func people(command: [String]) async throws {
        let outcome = try await withDaemon(FakeService()) { socket in
            try await MusterProcess.run(command, socket: socket)
        }
        #expect(outcome.error == "")
        #expect(outcome.exitCode == 0)
        #expect(!outcome.output.contains("\u{1B}"))
        // The doctor says everything about one thing in one line.
        let limit = command == ["doctor"] ? 300 : 80
        for line in outcome.output.split(separator: "\n") { #expect(line.count <= limit, "\(line)") }
        try expectSnapshot(
            outcome.output, "people-" + command.prefix(2).filter { $0 != Self.job }.joined(separator: "-"))
    }

    @Test("For scripts: stable JSON", arguments: commands)
    func scripts(command: [String]) async throws {
        let outcome = try await withDaemon(FakeService()) { socket in
            try await MusterProcess.run(command + ["--json", "--socket", socket])
        }
        #expect(outcome.error == "")
        #expect(outcome.exitCode == 0)
        try expectSnapshot(outcome.output, "json-" + command.prefix(2).filter { $0 != Self.job }.joined(separator: "-"))
    }

    @Test("A finished mutation is shown with what came of it, when, and who asked for it")
    func finished() async throws {
        let outcome = try await withDaemon(FakeService()) { socket in
            try await MusterProcess.run(["queue", "show", "a1b2"], socket: socket)
        }
        for words in ["advance to dispatched", "rejected", "The job is completed.", "bert-laptop", "by the office"] {
            #expect(outcome.output.contains(words))
        }
        #expect(outcome.exitCode == 0)
    }

    @Test("A mutation that nobody knows is refused with one sentence")
    func unknownMutation() async throws {
        let outcome = try await withDaemon(FakeService()) { socket in
            try await MusterProcess.run(["queue", "show", "ffff"], socket: socket)
        }
        #expect(outcome.exitCode == 65 && outcome.output == "")
        #expect(outcome.error.split(separator: "\n").count == 1 && outcome.error.contains("'ffff'"))
    }

    @Test("A retry says what it still waits for")
    func retryBehindAnother() async throws {
        let outcome = try await withDaemon(FakeService()) { socket in
            try await MusterProcess.run(["queue", "retry", "77d01b2e"], socket: socket)
        }
        #expect(outcome.output == "Will advance to completed after what goes before it in its lane.\n")
    }

    @Test("A lane with the longest usual name is paused and resumed in 80 columns", arguments: ["pause", "resume"])
    func lane(command: String) async throws {
        let lane = "\(FakeService.jobID)/state"
        let outcome = try await withDaemon(FakeService()) { socket in
            try await MusterProcess.run(["queue", command, lane], socket: socket)
        }
        #expect(outcome.output.hasPrefix(lane))
        #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test("A filter names a field and its value")
    func filter() async throws {
        let outcome = try await withDaemon(FakeService()) { socket in
            try await MusterProcess.run(["item", "list", Self.job, "room=Living room", "--json"], socket: socket)
        }
        let items = try JSON.decode([ItemView].self, from: Array(outcome.output.utf8))
        #expect(items == [FakeService.items[0]])
    }

    @Test("A job and an item reach the daemon as they were written, whatever their characters")
    func references() async throws {
        let service = FakeService()
        let outcome = try await withDaemon(service) { socket in
            try await MusterProcess.run(["job", "show", "a/b c?d=ü%25#e"], socket: socket)
        }
        #expect(outcome.error == "muster: There is no job \"a/b c?d=ü%25#e\": see 'muster job list'.\n")
    }

    @Test("Different copies make the check exit with 1 and name what is missing where")
    func different() async throws {
        let service = FakeService()
        service.isDifferent.withLock { $0 = true }
        let outcome = try await withDaemon(service) { socket in
            try await MusterProcess.run(["job", "check", Self.job], socket: socket)
        }
        #expect(outcome.exitCode == 1)
        #expect(outcome.output.contains("missing on bert-laptop: 12 transforms (16–27) by anna-laptop"))
        #expect(outcome.output.contains("missing here: 1 transform (10) by 2e2e2e2e"))
    }

    @Test("Exports are the daemon's bytes")
    func exports() async throws {
        let outcome = try await withDaemon(FakeService()) { socket in
            try await MusterProcess.run(["job", "export", Self.job, "--format", "csv"], socket: socket)
        }
        #expect(outcome.output == "id,name\r\n1,Sofa\r\n")
    }
}
