import Foundation

/// The built `muster` as a process.
struct MusterProcess: Sendable {
    struct Outcome: Sendable {
        var output: String
        var error: String
        var exitCode: Int32
    }

    /// Beside the test bundle.
    static var executable: URL {
        URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "muster")
    }

    /// Runs to the end; standard output and error go to files, so that no thread has to wait for them.
    static func run(
        _ arguments: [String], socket: String? = nil, environment: [String: String] = [:]
    ) async throws -> Outcome {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let output = URL(filePath: try directory.write("", to: "output"))
        let error = URL(filePath: try directory.write("", to: "error"))
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        var variables = ["TZ": "UTC", "TERM": "xterm", "PATH": "/usr/bin:/bin"]
        if let socket { variables["MUSTER_SOCKET"] = socket }
        process.environment = variables.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: error)
        let exitCode = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        return Outcome(
            output: try String(contentsOf: output, encoding: .utf8),
            error: try String(contentsOf: error, encoding: .utf8), exitCode: exitCode)
    }
}

/// A box whose accesses the caller orders.
final class Mutable<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }
}
