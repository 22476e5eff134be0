package import LocalAPI
import NIOCore

#if canImport(Glibc)
    import Glibc
#endif

/// Who is at the other end of a connection to the socket, and on what terms it asks.
package struct LocalCaller: Hashable, Sendable {
    /// The Unix user of the process that has connected, as the kernel says; nil where it does not.
    package let user: UInt32?
    /// How what is asked for has to be found (`If-Match`); nil where it does not matter.
    package var condition: EntityTagCondition?
    /// Whether values are meant that hardly anybody means (`force`).
    package var isForcing = false

    /// Takes a user, or nobody.
    package init(user: UInt32? = nil, on condition: EntityTagCondition? = nil, isForcing: Bool = false) {
        self.user = user
        self.condition = condition
        self.isForcing = isForcing
    }

    /// Asks the kernel (SO_PEERCRED, unix(7)): nothing that the caller sends decides it. The socket's mode lets people in, as their
    /// groups allow; this only tells them apart.
    init(of channel: any Channel) async {
        guard let options = channel as? any SocketOptionProvider else {
            self.init()
            return
        }
        let credentials: EventLoopFuture<PeerCredentials> = options.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
        self.init(user: try? await credentials.get().user)
    }
}

/// `struct ucred` of the kernel.
private struct PeerCredentials: Sendable {
    let process: Int32
    let user: UInt32
    let group: UInt32
}
