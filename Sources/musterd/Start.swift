import ArgumentParser
import Node
import Systemd

#if canImport(Glibc)
    import Glibc
#endif

/// How a run ends that does not go on.
enum Start {
    /// Whatever ends the body is told in one sentence, and by an exit code.
    static func orOneSentence(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            let failure = StartFailure(error)
            let line = Array(
                SystemLog.lastWord("musterd: \(failure.sentence)", environment: ProgramStart.environment).utf8)
            _ = write(STDERR_FILENO, line, line.count)
            throw ExitCode(failure.exit.rawValue)
        }
    }
}
