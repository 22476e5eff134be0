import CRDT
import LocalAPI
import Outbox
import Storage
import Testing

@testable import Node

@Suite(.timeLimit(.minutes(1)))
struct RenameTests {
    @Test("A new name outranks the one under which the office has opened the job, and the other is not taken for it")
    func outranks() async throws {
        let scene = try await Scene()
        let outcomes = try await withDaemon(scene.answers) { socket in
            var outcomes: [MusterProcess.Outcome] = []
            for command in [
                ["show", OutputTests.job], ["rename", OutputTests.job, "Jones"], ["show", "Jones"],
                ["create", "--name", "Jones"], ["show", "Jones"],
            ] { outcomes.append(try await MusterProcess.run(["job"] + command, socket: socket)) }
            return outcomes
        }
        #expect(try await scene.service.serverName() == OutputTests.job, "the office says the old one still")
        #expect(outcomes.map(\.exitCode) == [0, 0, 0, 0, 65])
        #expect(outcomes[2].output.hasPrefix("Job\tJones\n"))
        #expect(outcomes[3].error.contains("\(Scene.jobID) (pickup, 3 items, changed "))
        #expect(outcomes[3].error.contains("is called \"Jones\", too"))
        let lines = outcomes[4].error.split(separator: "\n").map(String.init)
        #expect(lines.count == 3 && lines[0] == "muster: 'Jones' fits 2 jobs; name one by its id:")
        #expect(lines[1] == "\(Scene.jobID)\tJones\tdispatched → awaitingSignature\t3", "whole ids for programs")
        #expect(lines[2].hasPrefix(String(outcomes[3].output.prefix(36))))
    }
}

extension InventoryService {
    /// What the office calls the scene's job.
    fileprivate func serverName() async throws -> String? {
        guard let job = JobID(Scene.jobID) else { return nil }
        return try await store.job(job).published[.jobName]
    }
}
