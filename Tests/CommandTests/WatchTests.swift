import Foundation
import LocalAPI
import Testing

/// `job watch` where no person looks, ended as Ctrl-C does.
@Suite(.timeLimit(.minutes(1)))
struct WatchTests {
    @Test("Changes are printed as they happen, and Ctrl-C is a clean end", arguments: [[], ["--json"]])
    func watch(options: [String]) async throws {
        let service = FakeService()
        let (output, exitCode) = try await withDaemon(service) { socket in
            let process = Process()
            let pipe = Pipe()
            process.executableURL = MusterProcess.executable
            process.arguments = ["job", "watch", "0190", "--socket", socket] + options
            process.environment = ["TZ": "UTC"]
            process.standardOutput = pipe
            let (ended, end) = AsyncStream<Int32>.makeStream()
            process.terminationHandler = { end.yield($0.terminationStatus) }
            try process.run()
            while service.followerCount == 0 { try await Task.sleep(for: .milliseconds(5)) }
            service.send(.change(FakeService.changes[1]))
            service.send(.job(JobAdvanced(job: FakeService.jobID, vector: [FakeService.replicaID: 28])))
            // Never a blocking read: the server needs these threads.
            let (pieces, arrival) = AsyncStream<Data>.makeStream()
            pipe.fileHandleForReading.readabilityHandler = { arrival.yield($0.availableData) }
            var text = ""
            for await piece in pieces {
                text += String(decoding: piece, as: UTF8.self)
                // A greeting and a change, or two events.
                if piece.isEmpty || text.count(where: { $0 == "\n" }) >= 2 { break }
            }
            pipe.fileHandleForReading.readabilityHandler = nil
            process.interrupt()
            var codes = ended.makeAsyncIterator()
            return (text, await codes.next())
        }
        #expect(exitCode == 0)
        try expectSnapshot(output, "watch" + options.map { $0.dropFirst() }.joined())
    }
}
