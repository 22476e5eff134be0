import LocalAPI
import Testing

@testable import Node

/// What cannot be taken back is asked for, and a script has to say it.
@Suite(.timeLimit(.minutes(2)))
struct ConfirmationTests {
    private static let job = "Smith, 12 Elm Street"
    private static let oak = Scene.removedJobID

    /// What is there to lose: of the items of the job, and of late changes to another.
    private struct Holdings: Equatable {
        var items: Int
        var late: Int
    }

    /// Beside the scene's three items there are thirty in the garage.
    private static let all = Holdings(items: 33, late: 2)

    private func run(_ command: [String]) async throws -> (outcome: MusterProcess.Outcome, left: Holdings) {
        let scene = try await Scene()
        let rows = (1...30).map { _ in FieldsRequest(fields: ["room": "Garage", "name": "Box"]) }
        _ = try await scene.service.addItems(ItemBatch(items: rows), job: Scene.jobID)
        let outcome = try await withDaemon(scene.answers) { socket in
            try await MusterProcess.run(scene.filled(command), socket: socket)
        }
        let late = try await scene.service.late(job: Self.oak).count
        // A removed job lists nothing.
        let items = try await scene.service.job(Scene.jobID, makesDigest: false).items
        return (outcome, Holdings(items: items, late: late))
    }

    static let asking: [(command: [String], items: Int, late: Int)] = [
        (["item", "remove", job, "--where", "room=Garage"], 3, 2),
        (["item", "remove", job, Scene.itemIDs[0], Scene.itemIDs[1]], 31, 2), (["job", "remove", job], 0, 2),
        (["job", "late", oak, "--drop", "{late 1}"], 33, 1), (["job", "late", oak, "--drop", "all"], 33, 0),
    ]

    @Test("Without a terminal nothing is done unless --yes is given", arguments: asking)
    func scripts(command: [String], items: Int, late: Int) async throws {
        let refused = try await run(command)
        #expect(refused.outcome.exitCode == 64)
        #expect(refused.outcome.error.contains("--yes"))
        #expect(refused.left == Self.all)
        let done = try await run(command + ["--yes"])
        #expect(done.outcome.exitCode == 0, "\(done.outcome.error)")
        #expect(done.left == Holdings(items: items, late: late))
    }

    @Test("A removal names what goes before it is done, and afterwards how to bring it back")
    func told() async throws {
        let command = ["item", "remove", Self.job, "--where", "room=Garage"]
        let refused = try await run(command).outcome.error
        #expect(refused.contains("30 of the 33 items") && refused.contains("Box, Box, Box, Box, Box, and 25 more"))
        let done = try await run(command + ["--yes"]).outcome.output.split(separator: "\n")
        #expect(done.count == 1 + 20 + 1 + 2 && done[21] == "  and 10 more")
        #expect(done.last?.hasPrefix("muster item restore \"\(Self.job)\" ") == true)
        #expect(done.last?.split(separator: " ").count == 3 + 4 + 30)
    }

    @Test("What is removed and restored is told to scripts in one form, however many there are")
    func oneForm() async throws {
        func keys(_ command: [String]) async throws -> [String] {
            let output = try await run(command + ["--json"]).outcome.output
            return output.split(separator: "\n").compactMap { line in
                line.split(separator: "\"").dropFirst().first.map(String.init)
            }
        }
        let (one, two) = ([Scene.itemIDs[0]], Array(Scene.itemIDs[0...1]))
        let remove = ["item", "remove", Self.job, "--yes"]
        let forms = (Set(try await keys(remove + one)), Set(try await keys(remove + two)))
        #expect(forms.0.isSuperset(of: ["removed", "items", "reference"]) && !forms.0.contains("amends"))
        #expect(forms.0.subtracting(Scene.itemIDs) == forms.1.subtracting(Scene.itemIDs))
        let restored = try await keys(["item", "restore", Self.job, Scene.removedItemID])
        #expect(Set(restored) == ["restored", "id", "isNew", "replaces"])
    }

    static let unasked: [(command: [String], items: Int, late: Int, output: String)] = [
        (["item", "remove", job, Scene.itemIDs[0], Scene.itemIDs[0]], 32, 2, "Removed 1 item:\n"),
        (
            ["item", "remove", job, "--where", "room=Hall", "--where", "quantity=two"], 32, 2,
            "Removed 1 item:\n"
        ),
        (["item", "remove", job, "--where", "room=Nowhere"], 33, 2, "Removed 0 items.\n"),
        (["job", "late", oak, "--accept", "{bert}:3"], 33, 1, "Accepted 1 late change into the job "),
        (["job", "late", oak, "--accept", "all"], 33, 0, "Accepted 2 late changes into the job "),
    ]

    @Test("What is small, or can be taken back, is not asked for", arguments: unasked)
    func quiet(command: [String], items: Int, late: Int, output: String) async throws {
        let done = try await run(command)
        #expect(done.outcome.error == "")
        #expect(done.left == Holdings(items: items, late: late))
        #expect(done.outcome.output.hasPrefix(output))
    }

    @Test(
        "Wishes that contradict each other, or name nobody, are refused",
        arguments: [
            (["item", "remove", job], 64), (["item", "remove", job, "a", "--where", "b=c"], 64),
            (["job", "late", oak, "--accept", "all", "--drop", "all"], 64),
            (["job", "late", oak, "--accept", "{bert}:99"], 65), (["job", "late", oak, "--accept", "{bert}"], 65),
            (["job", "late", oak, "--drop", "", "--yes"], 64),
            (["job", "remove", "", "--yes"], 64), (["item", "remove", job, ""], 64),
        ] as [([String], Int32)])
    func refused(command: [String], exitCode: Int32) async throws {
        let refused = try await run(command)
        #expect(refused.outcome.exitCode == exitCode)
        #expect(refused.left == Self.all)
    }
}
