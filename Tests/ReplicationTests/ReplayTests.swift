import Foundation
import Simulation
import Testing

@Suite("Replaying a run from its seed", .timeLimit(.minutes(2)))
struct ReplayTests {
    @Test("The same seed gives the same run, and another seed another one")
    func sameProcess() async throws {
        let first = try await Simulation.run(seed: 7)
        let second = try await Simulation.run(seed: 7)
        #expect(first.trace == second.trace && first.counters == second.counters)
        #expect(try await Simulation.run(seed: 8).trace != first.trace)
    }

    @Test("Another process replays it exactly, though dictionaries are seeded anew there")
    func anotherProcess() async throws {
        var trace: UInt64 = 0
        for seed in 21...24 as ClosedRange<UInt64> { trace &+= try await Simulation.run(seed: seed).trace }
        let process = Process()
        // The built programs lie beside the bundle that holds the tests.
        process.executableURL = Bundle.main.bundleURL.appendingPathComponent("simulate")
        process.arguments = ["--seeds", "4", "--from", "21"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(text.contains("4 seeds, 0 failing, trace \(String(trace, radix: 16))"), "\(text)")
    }
}
