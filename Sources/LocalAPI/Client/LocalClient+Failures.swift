import Glibc
import HTTPCoding
import NIOCore
import NIOHTTP1

extension LocalClient {
    /// The daemon's problem document as an error.
    func problem(in response: LocalAnswer) async -> APIError {
        do {
            let bytes = try await response.body.collect(upTo: 1 << 20)
            return try JSON.decode(Problem.self, from: bytes.readableBytesView).error
        } catch {
            return APIError(
                .unexpectedAnswer,
                "What answers on \(socketPath) is not musterd (HTTP status \(response.status.code))",
                remedy: "check --socket")
        }
    }

    /// An answer that this version cannot read: most likely the daemon is of another version.
    func unexpected(_ fault: JSONFault, in response: LocalAnswer) -> APIError {
        let version = response.headers.first(name: MusterVersion.headerName) ?? "unknown"
        return APIError(
            .unexpectedAnswer,
            "The daemon's answer is not understood (\(fault.sentence)): it has version \(version), this program "
                + "\(MusterVersion.current); restart the daemon after an update.")
    }

    /// Why the daemon could not be asked, with the remedy.
    ///
    /// - Parameter isWrite: then nobody knows whether it was carried out, unless it never got there.
    func connectionFailure(_ error: any Error, isWrite: Bool = false) -> any Error {
        if error is CancellationError || error is APIError { return error }
        let isDoubtful = isWrite && !Self.isAbsent(error)
        let fate = isDoubtful ? ": whether this was done is not known" : ""
        let next = isDoubtful ? "look at the job before you repeat it" : "try again"
        switch error as? ConnectionError {
        case .notTaken?:
            return APIError(
                .unavailable, "The daemon on \(socketPath) takes no connection",
                remedy: "see 'systemctl status musterd', restart it if it is stopped, then try again")
        case .silent?:
            return APIError(
                isWrite ? .unreachable : .unavailable,
                "The daemon on \(socketPath) has not answered for \(timeoutSeconds) s\(fate)",
                remedy: "restart it if it is stopped (systemctl status musterd), then \(next)")
        default: break
        }
        switch (error as? IOError)?.errnoCode {
        case EACCES, EPERM:
            return APIError(
                .notPermitted,
                "No permission to open \(socketPath)",
                remedy: "join its group (usually: adduser \(userName) muster), then log in again")
        case ENOENT, ECONNREFUSED:
            return APIError(
                .unreachable,
                "No daemon answers on \(socketPath)",
                remedy: "start it (systemctl start musterd), or name its socket with --socket or MUSTER_SOCKET")
        default:
            return APIError(
                .unreachable,
                "The connection to the daemon on \(socketPath) broke off\(fate) (\(error))",
                remedy: "see its log (journalctl -u musterd), then \(next)")
        }
    }

    /// Whether nothing was sent, since no daemon was there, or none for this user.
    static func isAbsent(_ error: any Error) -> Bool {
        if error as? ConnectionError == .notTaken { return true }
        return [ENOENT, ECONNREFUSED, EACCES, EPERM].contains((error as? IOError)?.errnoCode)
    }

    /// Whether the daemon went away in the midst of a request, rather than being silent, or not there.
    static func hasBrokenOff(_ error: any Error) -> Bool {
        switch error as? ConnectionError {
        case .silent?, .notHTTP?: false
        default: !(error is CancellationError) && !isAbsent(error)
        }
    }

    private var userName: String {
        getenv("USER").map { String(cString: $0) } ?? "NAME"
    }
}
