import Logging
import NIOCore
import NIOPosix

extension PeerTransport {
    /// Starts to connect. Does nothing while a dial to the same host and port is under way.
    /// Ends in `linkOpened` with `dialled: true`, or in `dialFailed`.
    package func dial(host: String, port: Int) {
        let address = RemoteName.text(host: host, port: port)
        guard registry.beginDial(address) else { return }
        let failed: @Sendable (any Error) -> Void = { error in
            self.registry.endDial(address)
            let reason = "\(error)"
            self.logger.debug("dial failed", metadata: ["address": "\(address)", "reason": "\(reason)"])
            Task { await self.handler.dialFailed(host: host, port: port, reason: reason) }
        }
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(configuration.connectTimeout))
            .channelOption(.autoRead, value: false)
            .applyingPeerOptions(configuration)
            .channelInitializer { self.reception.setUp($0, isDialled: true, onRefusal: failed) }
        connect(bootstrap, host: host, port: port).whenComplete { result in
            switch result {
            case .success: self.registry.endDial(address)
            case .failure(let error): failed(error)
            }
        }
    }

    /// A numeric address needs no resolver, nor its threads.
    private func connect(_ bootstrap: ClientBootstrap, host: String, port: Int) -> EventLoopFuture<any Channel> {
        if let address = try? SocketAddress(ipAddress: host, port: port) { return bootstrap.connect(to: address) }
        return bootstrap.connect(host: host, port: port)
    }
}
