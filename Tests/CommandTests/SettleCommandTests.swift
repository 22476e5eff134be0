import HTTPCoding
import LocalAPI
import Testing

@testable import Node

/// `job conflicts --take`, and what is said where no device is connected.
@Suite(.timeLimit(.minutes(2)))
struct SettleCommandTests {
    private static let job = "Smith, 12 Elm Street"

    @Test("One step settles a conflict, and says what was set")
    func take() async throws {
        let scene = try await Scene()
        let outcome = try await withDaemon(scene.answers) { socket in
            try await MusterProcess.run(
                ["job", "conflicts", Self.job, "--take", "2000000000091", "room", "Hall"], socket: socket)
        }
        #expect(outcome.error == "" && outcome.exitCode == 0)
        #expect(outcome.output == "Set room of Sofa (three seats) to Hall.\n")
        let sofa = try await scene.service.item(Scene.itemIDs[0], job: Self.job)
        #expect(sofa.fields["room"] == "Hall" && sofa.rivals.isEmpty)
    }

    @Test("For scripts it prints what was set and what that has replaced")
    func takeJSON() async throws {
        let outcome = try await withDaemon(try await Scene().answers) { socket in
            try await MusterProcess.run(
                ["job", "conflicts", Self.job, "--json", "--take", "job", "name", "bert-laptop", "--socket", socket])
        }
        let settled = try JSON.decode(SettledConflict.self, from: Array(outcome.output.utf8))
        #expect(settled.value == "Smith family" && settled.replaced.count == 2)
    }

    @Test("A choice that is not there is one sentence; too few words are wrong usage")
    func refused() async throws {
        let (unknown, short) = try await withDaemon(try await Scene().answers) { socket in
            let unknown = try await MusterProcess.run(
                ["job", "conflicts", Self.job, "--take", "job", "kind", "x"], socket: socket)
            return (
                unknown, try await MusterProcess.run(["job", "conflicts", Self.job, "--take", "job"], socket: socket)
            )
        }
        #expect(
            unknown.exitCode == 65 && unknown.error.hasPrefix("muster: The field 'kind' has no rival values there; "))
        #expect(short.exitCode == 64 && short.error.contains("Give --take an item, a field"))
    }

    static let alone: [([String], String)] = [
        (["status"], "no laptop is connected, 1 known"), (["peers"], "No laptop is connected."),
        (["job", "show", job], "no laptop is connected"),
        (["job", "check", job], "Cannot be known: no laptop is connected, so there is nothing to compare with."),
    ]

    @Test("Where no laptop is connected that is said, and nobody is in sync", arguments: alone)
    func notConnected(command: [String], sentence: String) async throws {
        let (people, script) = try await withDaemon(try await Scene(.alone).answers) { socket in
            let people = try await MusterProcess.run(command, socket: socket, environment: ["COLUMNS": "80"])
            return (people, try await MusterProcess.run(command + ["--json", "--socket", socket]))
        }
        #expect(people.output.contains(sentence) && !people.output.contains("in sync"))
        if command != ["peers"] { #expect(script.output.contains("\"notConnected\"")) }
    }
}
