import Glibc
import NIOCore
import NIOPosix

/// What every connection to a peer is set to: nothing waits in the kernel to be sent together, and a peer that
/// vanished without a word is noticed by the kernel, which wakes nobody while all is well (tcp(7)).
struct PeerSocketOptions {
    /// An option and its value, as setsockopt(2) takes them.
    let options: [(ChannelOptions.Types.SocketOption, Int)]

    init(_ configuration: TransportConfiguration) {
        let seconds = max(3, configuration.deadPeerTimeout.components.seconds)
        options = [
            (.tcpOption(.tcp_nodelay), 1),
            (.socketOption(.so_keepalive), 1),
            // A probe after half of the time, and then three until it is over.
            (.tcpOption(.init(rawValue: TCP_KEEPIDLE)), Int(seconds / 2)),
            (.tcpOption(.init(rawValue: TCP_KEEPINTVL)), Int(max(1, seconds / 6))),
            (.tcpOption(.init(rawValue: TCP_KEEPCNT)), 3),
            (.tcpOption(.init(rawValue: TCP_USER_TIMEOUT)), Int(seconds * 1000)),
        ]
    }
}

extension ServerBootstrap {
    func applyingPeerOptions(_ configuration: TransportConfiguration) -> ServerBootstrap {
        PeerSocketOptions(configuration).options.reduce(self) { $0.childChannelOption($1.0, value: $1.1) }
    }
}

extension ClientBootstrap {
    func applyingPeerOptions(_ configuration: TransportConfiguration) -> ClientBootstrap {
        PeerSocketOptions(configuration).options.reduce(self) { $0.channelOption($1.0, value: $1.1) }
    }
}
