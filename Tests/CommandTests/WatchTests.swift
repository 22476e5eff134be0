import Foundation
import HTTPCoding
import LocalAPI
import LocalAPIServer
import Testing

@testable import Node

/// `job watch` where no person looks, ended as Ctrl-C does.
@Suite(.timeLimit(.minutes(1)))
struct WatchTests {
    @Test("Changes are printed as they happen, and Ctrl-C is a clean end", arguments: [[], ["--json"]])
    func watch(options: [String]) async throws {
        let scene = try await Scene()
        let lost = try #require(try await scene.changes().first { $0.fields.first?.standing == .lost })
        let (output, exitCode) = try await withDaemon(scene.answers) { socket in
            let process = Process()
            let pipe = Pipe()
            process.executableURL = MusterProcess.executable
            process.arguments = ["job", "watch", "0190", "--socket", socket] + options
            process.environment = ["TZ": "UTC"]
            process.standardOutput = pipe
            let (ended, end) = AsyncStream<Int32>.makeStream()
            process.terminationHandler = { end.yield($0.terminationStatus) }
            try process.run()
            let hub = scene.service.hub
            while !hub.hasListeners { try await Task.sleep(for: .milliseconds(5)) }
            hub.publish(.change(lost))
            hub.publish(.job(JobAdvanced(job: Scene.jobID, vector: [lost.by: 28])))
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
