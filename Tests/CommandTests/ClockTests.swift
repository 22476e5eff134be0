import LocalAPI
import Testing

@testable import muster

@Suite(.timeLimit(.minutes(2)))
struct ClockTests {
    private func run(_ command: [String]) async throws -> MusterProcess.Outcome {
        try await withDaemon(try await Scene(.alone).answers) { socket in
            try await MusterProcess.run(command, socket: socket, environment: ["COLUMNS": "80"])
        }
    }

    @Test("A laptop alone says that it is unsynchronised, what that means and what to do")
    func alone() async throws {
        let outcome = try await run(["clock"])
        #expect(outcome.exitCode == 0)
        try expectSnapshot(outcome.output, "people-clock-alone")
    }

    @Test("A check that fails gives the exit code 1")
    func failed() async throws {
        let outcome = try await run(["doctor"])
        #expect(outcome.exitCode == 1)
        #expect(outcome.output.contains("FAIL  disk       12.0 MB free at /var/lib/muster; make room there"))
    }

    @Test("The doctor says that no daemon answers, and what to do", arguments: [[], ["--json"]])
    func unreachable(options: [String]) async throws {
        let outcome = try await MusterProcess.run(["doctor"] + options, socket: "/tmp/muster-nobody.sock")
        #expect(outcome.exitCode == 1)
        #expect(outcome.error == "")
        #expect(outcome.output.contains("systemctl start musterd"))
    }

    static let offsets: [(Double, Double?, String)] = [
        (0.04, nil, "+0.0 ms"), (-12.34, 0.5, "−12.3 ± 0.5 ms"), (59_999, nil, "+59,999.0 ms"),
        (61_000, 1, "+1 min 1 s"), (10_800_012, 1, "+3 h 0 min"), (-172_800_000, nil, "−2 d 0 h"),
    ]

    @Test("An error of a clock is told in the unit that suits it", arguments: offsets)
    func offset(milliseconds: Double, uncertainty: Double?, text: String) {
        #expect(Formats.offset(milliseconds, uncertainty: uncertainty) == text)
    }
}
