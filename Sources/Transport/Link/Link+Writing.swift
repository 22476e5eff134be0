import CoreMetrics
import NIOCore
import Synchronization
import WireFormat

extension Link {
    /// Queues a frame; one that is too much for a peer that does not read ends the link.
    func send(_ frame: ByteBuffer) {
        enum Next { case flush, overflow, nothing }
        let next: Next = update { state in
            guard state.end == nil else { return (.nothing, false) }
            let wasCongested = state.outbound.isCongested
            guard case .accepted = state.outbound.append(frame) else { return (.overflow, false) }
            let becameCongested = !wasCongested && state.outbound.isCongested
            guard !state.isFlushScheduled else { return (.nothing, becameCongested) }
            state.isFlushScheduled = true
            return (.flush, becameCongested)
        }
        switch next {
        case .flush: channel.eventLoop.execute { self.flush() }
        case .overflow: abort(reason: "the peer does not read: too many bytes wait for it")
        case .nothing: break
        }
    }

    /// Ends the link when what was queued before is written, or after the time allowed.
    func close(reason: String, within timeout: TimeAmount = .seconds(1)) {
        guard end(LinkEnd(reason: reason, deliversRest: false)) else { return }
        let channel = self.channel
        channel.eventLoop.execute {
            self.flush(waits: false)
            // Comes after everything before it. Only this side's half is closed then, because closing all of it with
            // unread bytes inside would reset the connection and take from the peer what it has not read yet.
            channel.writeAndFlush(ByteBuffer()).whenComplete { _ in
                channel.close(mode: .output, promise: nil)
                channel.read()
            }
        }
        channel.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
    }

    /// Ends the link at once; what waits in either direction is lost.
    func abort(reason: String) {
        guard end(LinkEnd(reason: reason, deliversRest: false)) else { return }
        channel.close(promise: nil)
    }

    /// The connection is gone: what came before that can still be taken.
    func connectionEnded(reason: String) {
        end(LinkEnd(reason: reason, deliversRest: true))
    }

    /// The first reason counts; later ones are its consequences. Returns whether this was the first.
    @discardableResult
    private func end(_ end: LinkEnd) -> Bool {
        update { state in
            guard state.end == nil else { return (false, false) }
            state.end = end
            return (true, true)
        }
    }

    /// On the event loop: hands over what waits while the channel takes it; the rest follows when it does again.
    ///
    /// A small write that is encrypted and not yet taken by the kernel holds many times its length (NIOSSL keeps the capacity of
    /// the largest write before it): what waits for a peer that does not read waits here, as it is.
    ///
    /// - Parameter waits: false hands over everything.
    func flush(waits: Bool = true) {
        state.withLock { $0.isFlushScheduled = false }
        while !waits || channel.isWritable, let piece = state.withLock({ $0.outbound.next() }) {
            // The piece itself is not kept until then: encrypted it is there a second time.
            let (length, frameCount) = (piece.bytes.readableBytes, piece.frameCount)
            channel.writeAndFlush(piece.bytes).whenSuccess { self.wrote(length, frameCount: frameCount) }
        }
    }

    private func wrote(_ length: Int, frameCount: Int) {
        counters.sent.increment(by: length)
        update { state in
            let wasCongested = state.outbound.isCongested
            state.outbound.written(length, frameCount: frameCount)
            return ((), wasCongested && !state.outbound.isCongested)
        }
    }
}
