import ArgumentParser
import FoundationEssentials
import Glibc
import LocalAPI

/// What every command takes after its name.
struct GlobalOptions: ParsableArguments {
    @Flag(name: .long, help: "Print one JSON document (JSON lines for streams) for scripts.")
    var json = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The daemon's socket. Default: $MUSTER_SOCKET, else this user's daemon, else the machine's.",
            valueName: "path")
    )
    var socket: String?

    var socketPath: String {
        if let socket { return socket }
        if let path = getenv("MUSTER_SOCKET").map({ String(cString: $0) }), !path.isEmpty { return path }
        return UsualDirectories.socket(environment: ProcessInfo.processInfo.environment, isRoot: geteuid() == 0) {
            // Whose directory nobody may look into may have it, and who may not ask it is told so, and not to start another one.
            access($0, F_OK) == 0 || errno == EACCES
        }
    }

    /// Nobody has named a socket that is not the service's. (A user without a daemon of their own is sent to where it would be.)
    var meansService: Bool {
        let own = UsualDirectories(environment: ProcessInfo.processInfo.environment, isRoot: geteuid() == 0)
        return [own.socket, UsualDirectories.system.socket].contains(socketPath)
    }

    /// Runs the body with a client for the daemon.
    ///
    /// - Parameter timeoutSeconds: so long the daemon may be silent.
    func withClient<Value>(
        timeoutSeconds: Int = LocalClient.timeoutSeconds, _ body: (LocalClient) async throws -> Value
    ) async throws -> Value {
        try await LocalClient.with(socketPath: socketPath, timeoutSeconds: timeoutSeconds) { client in
            do { return try await body(client) } catch let error as APIError where error.code == .ambiguousItem {
                throw error.withShortIDs
            } catch let error as APIError where error.code == .ambiguousJob {
                guard let choice = await AmbiguousJob(error, client) else { throw error }
                choice.tell()
                throw Stop(code: error.systemExit)
            }
        }
    }
}

extension GlobalOptions {
    /// Runs the body with a client that waits for a daemon which copies a whole store; for one that answers nothing it does not.
    func withPatientClient<Value>(_ body: (LocalClient) async throws -> Value) async throws -> Value {
        try await withClient { _ = try await $0.status() }
        return try await withClient(timeoutSeconds: LocalClient.copyTimeoutSeconds, body)
    }
}

/// `--force` of whatever enters fields.
struct ForceOption: ParsableArguments {
    @Flag(name: .long, help: "Take values and names of fields that are doubted.")
    var force = false
}

/// `FIELD=VALUE` on the command line.
struct FieldArgument {
    var filter: FieldFilter

    /// - Throws: `ValidationError` for what has no `=`.
    @Sendable static func parse(_ argument: String) throws -> FieldArgument {
        guard let filter = try? FieldFilter(parsing: argument) else {
            throw ValidationError(
                "\"\(argument)\" has no '=' with a name before it: write NAME=VALUE, such as room=Hall.")
        }
        return FieldArgument(filter: filter)
    }
}

extension [FieldArgument] {
    /// The fields by name; throws when one is given twice.
    func fields() throws -> [String: String] {
        var fields: [String: String] = [:]
        for argument in self {
            guard fields.updateValue(argument.filter.value, forKey: argument.filter.field) == nil else {
                throw ValidationError("The field \"\(argument.filter.field)\" is given twice: give it once.")
            }
        }
        return fields
    }
}
