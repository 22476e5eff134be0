import ServerChannel
import Synchronization

/// Lets nobody in more often at a time than others could bear.
final class ConcurrencyLimiter: Sendable {
    private struct State {
        var inside: [String: Int] = [:]
        var total = 0
    }

    /// Requests of one device at the same time, and of all; waiting ones count. A laptop needs less than ten; each that is
    /// answered at length takes some MiB.
    private let perDevice: Int
    private let atOnce: Int
    private let state = Mutex(State())

    init(perDevice: Int = 24, atOnce: Int = 8_192) {
        self.perDevice = perDevice
        self.atOnce = atOnce
    }

    func enter(_ name: String) throws(ChannelProblem) {
        let problem: ChannelProblem? = state.withLock { state in
            if state.total >= atOnce {
                return ChannelProblem(.unavailable, "The server is busy; try again later.")
            }
            if state.inside[name, default: 0] >= perDevice {
                return ChannelProblem(.limited, "This device asks too much at once; wait for answers first.")
            }
            state.inside[name, default: 0] += 1
            state.total += 1
            return nil
        }
        if let problem { throw problem }
    }

    func leave(_ name: String) {
        state.withLock { state in
            state.total -= 1
            let left = state.inside[name, default: 1] - 1
            state.inside[name] = left > 0 ? left : nil
        }
    }
}

/// One request's place with the limiter, until its answer is written: whoever asks much and reads nothing fills no
/// memory.
final class Permit: Sendable {
    private let place = Mutex<(limiter: ConcurrencyLimiter, name: String)?>(nil)

    func begin(_ limiter: ConcurrencyLimiter, _ name: String) throws(ChannelProblem) {
        try limiter.enter(name)
        place.withLock { $0 = (limiter, name) }
    }

    /// Whose place it is, while it is taken.
    var name: String? { place.withLock { $0?.name } }

    func end() {
        let taken = place.withLock { place in
            defer { place = nil }
            return place
        }
        if let (limiter, name) = taken { limiter.leave(name) }
    }
}
