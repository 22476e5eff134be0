import HTTPTypes
import Hummingbird
import LocalAPI

/// Keeps pages that a browser shows away from the daemon, should somebody forward a port to its socket.
///
/// A page cannot leave out `Origin` where it changes something, nor choose `Host` (Fetch Standard, "Origin header" and "forbidden
/// request-header"); one that has its own name resolved to this machine still says that name. One without a dot is none of ours either:
/// whoever answers for names in the customer's network answers for those, too.
enum BrowserGuard {
    static func check(_ request: Request) throws(APIError) {
        guard request.headers[.origin] == nil else {
            throw APIError(
                .notPermitted, "A page in a browser may not ask this daemon: use muster, or the socket itself.")
        }
        guard ["", "localhost"].contains(HostHeader.host(of: request.head.authority ?? "")) else {
            throw APIError(.notPermitted, "This daemon has no other name than localhost: ask it as http://localhost.")
        }
    }
}
