import CRDT
import Synchronization

/// Wakes polls that wait for news.
final class ChangeHub: Sendable {
    /// Everybody who waits for any job is woken together, at most this often: a busy day would wake them all the time.
    private static let gathering = Duration.milliseconds(100)

    /// Taken before one looks, so that no change can slip in between looking and waiting.
    final class Ticket: Sendable {
        fileprivate enum State {
            case idle
            case waiting(CheckedContinuation<Void, Never>)
            case called
        }

        fileprivate let job: JobID?
        private let state = Mutex(State.idle)

        fileprivate init(job: JobID?) {
            self.job = job
        }

        fileprivate func call() {
            let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
                defer { state = .called }
                if case .waiting(let continuation) = state { return continuation }
                return nil
            }
            waiting?.resume()
        }

        /// Until it is called, or the time is over, or whoever waits is cancelled.
        func wait(for duration: Duration) async {
            let timer = Task {
                try? await Task.sleep(for: duration)
                self.call()
            }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isCalled = state.withLock { state in
                        if case .called = state { return true }
                        state = .waiting(continuation)
                        return false
                    }
                    if isCalled { continuation.resume() }
                }
            } onCancel: {
                self.call()
            }
            timer.cancel()
        }
    }

    private struct State {
        var waiting: [ObjectIdentifier: Ticket] = [:]
        var isGathering = false
        var hasFinished = false
    }

    private let state = Mutex(State())

    /// - Parameter job: nil for news of any job.
    func ticket(for job: JobID?) -> Ticket {
        let ticket = Ticket(job: job)
        let hasFinished = state.withLock { state in
            if !state.hasFinished { state.waiting[ObjectIdentifier(ticket)] = ticket }
            return state.hasFinished
        }
        if hasFinished { ticket.call() }
        return ticket
    }

    func giveBack(_ ticket: Ticket) {
        state.withLock { $0.waiting[ObjectIdentifier(ticket)] = nil }
    }

    var hasFinished: Bool { state.withLock { $0.hasFinished } }

    func changed(_ job: JobID) {
        let (called, mustGather) = state.withLock { state in
            defer { state.isGathering = true }
            return (state.waiting.values.filter { $0.job == job }, !state.isGathering)
        }
        for ticket in called { ticket.call() }
        if mustGather {
            Task {
                try? await Task.sleep(for: Self.gathering)
                self.callAll()
            }
        }
    }

    /// From now on nobody waits.
    func finish() {
        let waiting = state.withLock { state in
            state.hasFinished = true
            return Array(state.waiting.values)
        }
        for ticket in waiting { ticket.call() }
    }

    private func callAll() {
        let waiting = state.withLock { state in
            state.isGathering = false
            return state.waiting.values.filter { $0.job == nil }
        }
        for ticket in waiting { ticket.call() }
    }
}
