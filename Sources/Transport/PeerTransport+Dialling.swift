import Logging
import NIOCore
import NIOPosix
package import Replication

#if canImport(Glibc)
    import Glibc
#endif

extension PeerTransport {
    /// Starts to connect. Does nothing while a dial to the same host and port is under way, handshake included.
    /// Ends in `linkOpened` with this address, or in `dialFailed`.
    package func dial(_ address: PeerAddress) {
        guard registry.beginDial(address) else { return }
        let attempt = LinkAttempt(dialled: address) { channel, error in
            self.registry.endDial(address)
            let reason = DialReason.sentence(error)
            self.logger.debug("dial failed", metadata: ["address": "\(address)", "reason": "\(reason)"])
            let failure = channel == nil ? DialFailure(error) : .notShown
            Task(executorPreference: self.executor) {
                await self.handler.dialFailed(address, failure, reason: reason)
            }
        }
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(configuration.connectTimeout))
            .channelOption(.autoRead, value: false)
            .applyingPeerOptions(configuration)
            .channelInitializer { self.reception.setUp($0, attempt) }
        // From here on the channel's handlers say what becomes of it.
        bootstrap.connect(to: address).whenFailure { attempt.failed(nil, $0) }
    }
}

extension ClientBootstrap {
    /// A numeric address needs no resolver, nor its threads.
    func connect(to address: PeerAddress) -> EventLoopFuture<any Channel> {
        if let numeric = try? SocketAddress(ipAddress: address.host, port: address.port) {
            return connect(to: numeric)
        }
        return connect(host: address.host, port: address.port)
    }
}

extension DialFailure {
    /// What the system says of a connection that did not come about.
    init(_ error: any Error) {
        switch error {
        case let error as IOError: self.init(code: error.errnoCode)
        case ChannelError.connectTimeout: self = .silent
        case let error as NIOConnectionError:
            guard let last = error.connectionErrors.first?.error else {
                self = .unknownName
                return
            }
            self.init(last)
        default: self = .other
        }
    }

    private init(code: CInt) {
        switch code {
        case ECONNREFUSED: self = .refused
        case ETIMEDOUT: self = .silent
        case EHOSTUNREACH, ENETUNREACH, ENETDOWN, EADDRNOTAVAIL: self = .noWay
        default: self = .other
        }
    }
}
