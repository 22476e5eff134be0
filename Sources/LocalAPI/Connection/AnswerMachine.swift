import NIOCore

/// What has come of an answer and was not taken yet, and when to read on: only when somebody waits for more, so that a reader who stands
/// still holds the daemon up and fills no memory.
struct AnswerMachine<Part> {
    private enum State {
        /// More may come.
        case open(isAwaited: Bool)
        /// Nothing comes behind what has come; without an error the answer is whole.
        case ended((any Error)?)
    }

    enum Directive {
        case nothing
        /// Read the socket once.
        case read
        /// To whoever waits; nil is the end.
        case hand(Result<Part?, any Error>)
    }

    private var state = State.open(isAwaited: false)
    /// No more than one look at the socket brings.
    private var parts = CircularBuffer<Part>()

    /// Somebody waits for the next part, and nobody else does.
    mutating func ask() -> Directive {
        if let part = parts.popFirst() { return .hand(.success(part)) }
        switch state {
        case .open:
            state = .open(isAwaited: true)
            return .read
        case .ended(let error): return .hand(error.map { .failure($0) } ?? .success(nil))
        }
    }

    mutating func came(_ part: Part) -> Directive {
        switch state {
        case .open(isAwaited: true):
            state = .open(isAwaited: false)
            return .hand(.success(part))
        case .open(isAwaited: false):
            parts.append(part)
            return .nothing
        case .ended: return .nothing
        }
    }

    /// The socket was read, and may have brought a part of a part only.
    mutating func readCompleted() -> Directive {
        if case .open(isAwaited: true) = state { return .read }
        return .nothing
    }

    /// What has come is told all the same; of several ends the first counts.
    mutating func end(because error: (any Error)? = nil) -> Directive {
        switch state {
        case .open(let isAwaited):
            state = .ended(error)
            return isAwaited ? .hand(error.map { .failure($0) } ?? .success(nil)) : .nothing
        case .ended: return .nothing
        }
    }
}
