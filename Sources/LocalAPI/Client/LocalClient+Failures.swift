import Glibc
import HTTPCoding
import NIOCore
import NIOHTTP1

extension LocalClient {
    /// The answer, unless it tells of a problem.
    func good(_ answer: WholeAnswer) throws -> WholeAnswer {
        guard !(200..<300).contains(answer.status.code) else { return answer }
        guard let problem = try? JSON.decode(Problem.self, from: answer.body.readableBytesView) else {
            throw foreign("HTTP status \(answer.status.code)")
        }
        throw problem.error
    }

    /// Reads an answer.
    func decoded<Value: Decodable>(_ answer: WholeAnswer) throws -> Value {
        do { return try JSON.decode(from: answer.body.readableBytesView) } catch let fault as JSONFault {
            throw unexpected(fault, in: answer.headers)
        }
    }

    func foreign(_ reason: String) -> APIError {
        APIError(
            .unexpectedAnswer, "What answers on \(socketPath) is not musterd (\(reason))", remedy: "check --socket")
    }

    /// An answer that this version cannot read: most likely the daemon is of another version.
    func unexpected(_ fault: JSONFault, in headers: HTTPHeaders) -> APIError {
        let version = headers.first(name: MusterVersion.headerName) ?? "unknown"
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
        case .silent(let seconds)?:
            return APIError(
                isWrite ? .unreachable : .unavailable,
                "The daemon on \(socketPath) has not answered for \(seconds) s\(fate)",
                remedy: "restart it if it is stopped (systemctl status musterd), then \(next)")
        case .notOpened(EACCES?, _)?, .notOpened(EPERM?, _)?:
            return APIError(
                .notPermitted,
                "No permission to open \(socketPath)",
                remedy: "join its group (usually: adduser \(userName) muster), then log in again")
        case .notOpened(ENOENT?, _)?, .notOpened(ECONNREFUSED?, _)?:
            return APIError(
                .unreachable,
                "No daemon answers on \(socketPath)",
                remedy: "start it (systemctl start musterd; where it ends again systemctl status musterd says why), or "
                    + "name its socket with --socket or MUSTER_SOCKET")
        case .notOpened(_, let reason)?:
            return APIError(
                .unreachable,
                "No connection to \(socketPath) can be made: \(reason)",
                remedy: "name the daemon's socket with --socket or MUSTER_SOCKET")
        default:
            return APIError(
                .unreachable,
                "The connection to the daemon on \(socketPath) broke off\(fate) (\(error))",
                remedy: "see its log (journalctl -u musterd), then \(next)")
        }
    }

    /// Whether nothing was sent, since no daemon was there, or none for this user.
    static func isAbsent(_ error: any Error) -> Bool {
        switch error as? ConnectionError {
        case .notTaken?, .notOpened?: true
        default: false
        }
    }

    /// Whether the daemon went away in the midst of a request, rather than being silent, or not there, or none at all.
    static func hasBrokenOff(_ error: any Error) -> Bool {
        switch error as? ConnectionError {
        case .silent?, .notHTTP?: false
        default: !(error is CancellationError || error is APIError) && !isAbsent(error)
        }
    }

    private var userName: String {
        getenv("USER").map { String(cString: $0) } ?? "NAME"
    }
}
