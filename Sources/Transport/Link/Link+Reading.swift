import CoreMetrics
import NIOCore
import Replication
import Synchronization

extension Link {
    /// Bytes came from the socket.
    func bytesArrived(_ bytes: ByteBuffer) {
        counters.received.increment(by: bytes.readableBytes)
        update { state in
            // After its end a link reads on only to see the peer go.
            guard state.end == nil else { return ((), false) }
            state.inbound.append(bytes)
            return ((), state.inbound.hasFrame)
        }
    }

    /// A round of reading is over: should the next one be asked for at once?
    func readCompleted() -> Bool {
        state.withLock { state in
            state.isReadingPaused = state.end == nil && !state.inbound.wantsMore
            return !state.isReadingPaused
        }
    }

    /// Has not even the first frame come?
    var isSilent: Bool {
        state.withLock { !$0.hasGreeted && !$0.inbound.hasFrame }
    }

    /// Nothing more is expected of it as a link.
    func takeAsGreeted() {
        state.withLock { $0.hasGreeted = true }
    }

    /// The next event for the handler; nil when the link has ended. Only its one reader calls this.
    func next() async -> Event? {
        while true {
            switch takeEvent() {
            case .event(let event): return event
            case .ended, .broken: return nil
            case .nothing: await sleep()
            }
        }
    }

    private enum Taken {
        case event(Event)
        case ended
        /// The peer sent what no message is.
        case broken
        case nothing
    }

    private func takeEvent() -> Taken {
        let (taken, resumesReading) = state.withLock { state in
            let taken = Self.nextEvent(&state)
            let resumesReading = state.isReadingPaused && (state.inbound.wantsMore || state.end != nil)
            if resumesReading { state.isReadingPaused = false }
            return (taken, resumesReading)
        }
        if resumesReading { channel.read() }
        if case .broken = taken { channel.close(promise: nil) }
        return taken
    }

    private static func nextEvent(_ state: inout State) -> Taken {
        if let end = state.end, !end.deliversRest { return .ended }
        if state.reportedCongestion != state.outbound.isCongested {
            state.reportedCongestion = state.outbound.isCongested
            return .event(.backlog(congested: state.reportedCongestion))
        }
        do {
            let message = state.end == nil ? try state.inbound.next() : try state.inbound.last()
            guard let message else { return state.end == nil ? .nothing : .ended }
            state.hasGreeted = true
            return .event(.message(message))
        } catch {
            // Nothing that it says after this can be understood.
            state.end = LinkEnd(reason: "\(error)", deliversRest: false)
            return .broken
        }
    }

    private func sleep() async {
        await withCheckedContinuation { continuation in
            let isNeeded = state.withLock { state in
                guard !state.isReaderNeeded else {
                    state.isReaderNeeded = false
                    return true
                }
                state.reader = continuation
                return false
            }
            if isNeeded { continuation.resume() }
        }
    }
}
