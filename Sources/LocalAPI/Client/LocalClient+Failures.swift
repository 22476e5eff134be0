import AsyncHTTPClient
import Glibc
import HTTPCoding
import NIOCore
import NIOHTTP1

extension LocalClient {
    /// The daemon's problem document as an error.
    func problem(in response: HTTPClientResponse) async -> APIError {
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
    func unexpected(_ error: DecodingError, in response: HTTPClientResponse) -> APIError {
        let version = response.headers.first(name: MusterVersion.headerName) ?? "unknown"
        return APIError(
            .unexpectedAnswer,
            "The daemon's answer is not understood (\(error.summary)): it has version \(version), this program "
                + "\(MusterVersion.current); restart the daemon after an update.")
    }

    /// Why the daemon could not be asked, with the remedy.
    func connectionFailure(_ error: any Error) -> any Error {
        if error is CancellationError || error is APIError { return error }
        if let error = error as? HTTPClientError, error == .readTimeout || error == .connectTimeout {
            return APIError(
                .unavailable,
                "The daemon on \(socketPath) takes no part in anything: it has said nothing for \(patienceSeconds) s. What was "
                    + "asked for may be done all the same",
                remedy: "see 'systemctl status musterd', restart it if it is stopped, and try again")
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
                "The connection to the daemon on \(socketPath) broke off (\(error))",
                remedy: "see its log (journalctl -u musterd), then try again")
        }
    }

    private var userName: String {
        getenv("USER").map { String(cString: $0) } ?? "NAME"
    }
}
