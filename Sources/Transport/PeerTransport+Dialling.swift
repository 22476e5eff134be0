import Logging
import NIOCore
import NIOPosix
package import Replication

extension PeerTransport {
    /// Starts to connect. Does nothing while a dial to the same host and port is under way, handshake included.
    /// Ends in `linkOpened` with this address, or in `dialFailed`.
    package func dial(_ address: PeerAddress) {
        guard registry.beginDial(address) else { return }
        let attempt = LinkAttempt(dialled: address) { channel, error in
            self.registry.endDial(address)
            let reason = DialFailure.sentence(error)
            self.logger.debug("dial failed", metadata: ["address": "\(address)", "reason": "\(reason)"])
            let wasAnswered = channel != nil
            Task(executorPreference: self.executor) {
                await self.handler.dialFailed(address, wasAnswered: wasAnswered, reason: reason)
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
