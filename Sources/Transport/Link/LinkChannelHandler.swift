import CRDT
import NIOCore
import NIOSSL
import NIOTLS

/// The event loop's end of a link: asks the registry for one, lets it begin when the peer is known, and passes bytes and
/// their end on to it.
final class LinkChannelHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let proof: PeerProof
    private let reception: LinkReception
    private let attempt: LinkAttempt
    private var link: Link?
    private var hasBegun = false
    private var isEnrolment = false

    init(_ attempt: LinkAttempt, proof: PeerProof, reception: LinkReception) {
        self.attempt = attempt
        self.proof = proof
        self.reception = reception
    }

    func channelActive(context: ChannelHandlerContext) {
        guard let link = reception.admit(context.channel, attempt) else {
            context.close(promise: nil)
            return
        }
        self.link = link
        context.eventLoop.scheduleTask(in: TimeAmount(reception.configuration.handshakeTimeout)) { [weak link] in
            guard let link, link.isSilent else { return }
            link.abort(reason: "no hello came in time")
        }
        context.read()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let application) = event as? TLSUserEvent, let link {
            switch (application, proof.device) {
            case (LinkTLS.enrolment, _) where link.dialled == nil: beginEnrolment(of: link, context)
            case (LinkTLS.application, let device?):
                hasBegun = true
                reception.begin(link, with: device)
            case (LinkTLS.application, nil):
                link.abort(reason: proof.refusal?.description ?? "the peer has not shown who it is")
            default: link.abort(reason: "the peer speaks another protocol than \(LinkTLS.application)")
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// What comes from now on is the next handler's.
    private func beginEnrolment(of link: Link, _ context: ChannelHandlerContext) {
        guard let (connection, serve) = reception.enrolment(on: link, with: proof.chain) else {
            link.abort(reason: "this laptop lets nobody in")
            return
        }
        do {
            try context.pipeline.syncOperations.addHandler(EnrolmentChannelHandler(connection))
            isEnrolment = true
            serve()
        } catch {
            link.abort(reason: "\(error)")
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isEnrolment { return context.fireChannelRead(data) }
        link?.bytesArrived(Self.unwrapInboundIn(data))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if isEnrolment { return context.fireChannelReadComplete() }
        if link?.readCompleted() == true { context.read() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { link?.flush() }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        link?.connectionEnded(reason: reason(for: error))
        context.close(promise: nil)
    }

    private func reason(for error: any Error) -> String {
        if let refusal = proof.refusal { return refusal.description }
        // Only the TCP connection was closed: whole frames are whole all the same.
        if case .uncleanShutdown = error as? NIOSSLError { return LinkEnd.byPeer }
        return "the connection broke: \(error)"
    }

    func channelInactive(context: ChannelHandlerContext) {
        link?.connectionEnded(reason: LinkEnd.byPeer)
        context.fireChannelInactive()
        guard let link, !hasBegun else { return }
        if isEnrolment { return reception.endEnrolment(on: link) }
        // What never began has nobody who serves it to its end.
        reception.giveUp(link, attempt)
    }
}
