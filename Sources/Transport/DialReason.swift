import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#endif

/// Why a laptop was not reached, or an address cannot be listened on, as people read it.
enum DialReason {
    static func sentence(_ error: any Error) -> String {
        switch error {
        case let refusal as LinkRefusal: return refusal.description
        case ChannelError.connectTimeout: return "Nobody answered in time."
        case let error as IOError: return "\(String(cString: strerror(error.errnoCode)))."
        case SocketAddressError.unknown(let host, _): return "No address is known for the name \(host)."
        case let error as NIOConnectionError:
            // Of several addresses of a name the first speaks for all.
            if let first = error.connectionErrors.first { return sentence(first.error) }
            return "No address is known for the name \(error.host)."
        default: return "\(error)"
        }
    }
}
