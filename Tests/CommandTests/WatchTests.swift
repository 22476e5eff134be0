import Foundation
import HTTPCoding
import LocalAPI
import LocalAPIServer
import Testing

@testable import Node

/// `job watch` where no person looks.
@Suite(.timeLimit(.minutes(1)))
struct WatchTests {
    @Test("Changes are printed as they happen, and Ctrl-C is a clean end", arguments: [[], ["--json"]])
    func watch(options: [String]) async throws {
        let scene = try await Scene()
        let lost = try #require(try await scene.changes().first { $0.fields.first?.standing == .lost })
        let (output, exitCode) = try await withDaemon(scene.answers) { socket in
            let watching = try await Watching(options, of: scene, socket)
            scene.service.hub.publish(.change(lost))
            scene.service.hub.publish(.job(JobAdvanced(job: Scene.jobID, vector: [lost.by: 28])))
            // A greeting and a change, or two events.
            let output = await watching.read(lines: 2)
            watching.process.interrupt()
            return (output, await watching.exitCode)
        }
        #expect(exitCode == 0)
        try expectSnapshot(output, "watch" + options.map { $0.dropFirst() }.joined())
    }

    @Test("Whoever watches a job that is removed is told, and waits for nothing more", arguments: [[], ["--json"]])
    func removed(options: [String]) async throws {
        let scene = try await Scene()
        let change = try #require(try await scene.changes().last)
        let (output, exitCode, again) = try await withDaemon(scene.answers) { socket in
            let watching = try await Watching(options, of: scene, socket)
            scene.service.hub.publish(.change(change))
            // It watches by then.
            let lines = options.isEmpty ? 2 : 1
            _ = await watching.read(lines: lines)
            _ = try await scene.service.removeJob(Scene.jobID, isConfirmed: true)
            let output = await watching.read(lines: .max)
            return (
                output, await watching.exitCode,
                try await MusterProcess.run(["job", "watch", Scene.jobID], socket: socket)
            )
        }
        let event = #"{"isRemoved":true,"job":"\#(Scene.jobID)","type":"job","vector":"#
        #expect(output.split(separator: "\n").last?.hasPrefix(event) == !options.isEmpty)
        #expect(exitCode == 65 && again.exitCode == 65 && again.output.isEmpty)
        #expect(again.error.hasPrefix("muster: The job 'Smith, 12 Elm Street' has been removed, and nothing more"))
    }
}

/// A command that prints as long as it runs.
private final class Watching: Sendable {
    let process = Process()
    private let pieces: AsyncStream<Data>
    private let ended: AsyncStream<Int32>
    private let text = Mutable("")

    /// Once it is told what happens.
    init(_ options: [String], of scene: Scene, _ socket: String) async throws {
        let pipe = Pipe()
        process.executableURL = MusterProcess.executable
        process.arguments = ["job", "watch", "0190", "--socket", socket] + options
        process.environment = ["TZ": "UTC"]
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        let end: AsyncStream<Int32>.Continuation
        (ended, end) = AsyncStream.makeStream()
        process.terminationHandler = { end.yield($0.terminationStatus) }
        // Never a blocking read: the server needs these threads.
        let arrival: AsyncStream<Data>.Continuation
        (pieces, arrival) = AsyncStream.makeStream()
        pipe.fileHandleForReading.readabilityHandler = { handle in
            let piece = handle.availableData
            if piece.isEmpty { handle.readabilityHandler = nil }
            arrival.yield(piece)
        }
        try process.run()
        while !scene.service.hub.hasListeners { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// - Returns: all that it has printed, once that is so many lines or it has ended.
    func read(lines: Int) async -> String {
        for await piece in pieces {
            text.value += String(decoding: piece, as: UTF8.self)
            if piece.isEmpty || text.value.count(where: { $0 == "\n" }) >= lines { break }
        }
        return text.value
    }

    var exitCode: Int32? {
        get async {
            var codes = ended.makeAsyncIterator()
            return await codes.next()
        }
    }
}
