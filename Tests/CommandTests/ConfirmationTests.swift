import LocalAPI
import Synchronization
import Testing

/// What cannot be taken back is asked for, and a script has to say it.
@Suite(.timeLimit(.minutes(2)))
struct ConfirmationTests {
    private static let job = "Smith, 12 Elm Street"

    private func run(_ command: [String]) async throws -> (outcome: MusterProcess.Outcome, written: [String]) {
        let service = FakeService()
        let outcome = try await withDaemon(service) { socket in
            try await MusterProcess.run(command, socket: socket)
        }
        return (outcome, service.written.withLock { $0 })
    }

    static let asking: [(command: [String], written: String)] = [
        (["item", "remove", job, "--where", "room=Garage"], "remove where room=Garage, confirmed"),
        (["job", "remove", job], "remove the job"),
        (["job", "late", job, "--drop", "2e2e2e2e:14"], "drop 2e2e…:14"),
        (["job", "late", job, "--drop", "all"], "drop 2e2e…:12 2e2e…:14"),
    ]

    @Test("Without a terminal nothing is done unless --yes is given", arguments: asking)
    func scripts(command: [String], written: String) async throws {
        let refused = try await run(command)
        #expect(refused.outcome.exitCode == 64)
        #expect(refused.outcome.error.contains("--yes"))
        #expect(refused.written.isEmpty)
        let done = try await run(command + ["--yes"])
        #expect(done.outcome.exitCode == 0, "\(done.outcome.error)")
        #expect(done.written == [written])
    }

    static let unasked: [(command: [String], written: String, output: String)] = [
        (
            ["item", "remove", job, FakeService.itemIDs[0], FakeService.itemIDs[1]], "remove 2 named",
            "Removed 2 items.\n"
        ),
        (
            ["item", "remove", job, "--where", "room=Hall", "--where", "name=Box"], "remove where name=Box,room=Hall",
            "Removed 3 items.\n"
        ),
        (
            ["job", "late", job, "--accept", "2e2e:12"], "accept 2e2e…:12",
            "Accepted 1 late change, in the job \(FakeService.jobID).\n"
        ),
        (
            ["job", "late", job, "--accept", "all"], "accept 2e2e…:12 2e2e…:14",
            "Accepted 2 late changes, in the job \(FakeService.jobID).\n"
        ),
    ]

    @Test("What is small, or can be taken back, is not asked for", arguments: unasked)
    func quiet(command: [String], written: String, output: String) async throws {
        let done = try await run(command)
        #expect(done.outcome.error == "")
        #expect(done.written == [written])
        #expect(done.outcome.output == output)
    }

    @Test(
        "Wishes that contradict each other, or name nobody, are refused",
        arguments: [
            (["item", "remove", job], 64), (["item", "remove", job, "a", "--where", "b=c"], 64),
            (["job", "late", job, "--accept", "all", "--drop", "all"], 64),
            (["job", "late", job, "--accept", "2e2e:13"], 65), (["job", "late", job, "--accept", "2e2e"], 65),
            (["job", "late", job, "--drop", "", "--yes"], 64),
            (["job", "remove", "", "--yes"], 64), (["item", "remove", job, ""], 64),
        ] as [([String], Int32)])
    func refused(command: [String], exitCode: Int32) async throws {
        let refused = try await run(command)
        #expect(refused.outcome.exitCode == exitCode)
        #expect(refused.written.isEmpty)
    }
}
