import LocalAPI
import UnixSignals

/// Keeps a `WatchView` up to date on the terminal's alternate screen.
struct LiveWatch: Sendable {
    /// Figures of a job that changes all the time are fetched five times a second at most,
    private static let shortestPause = Duration.milliseconds(200)
    /// and of one that rests every two seconds, since peers come and go without a change of the job.
    private static let longestPause = Duration.seconds(2)
    private static let tick = Duration.milliseconds(500)
    /// A daemon that is started anew is back within a second or two.
    private static let retryPause = Duration.seconds(1)

    let client: LocalClient
    let job: String

    private enum Stimulus: Sendable {
        case change(ChangeReport)
        /// The job has moved on.
        case moved
        case tick
        case resized
        /// The daemon tells what happens, from now on.
        case connected
        case away
        case failed(any Error)
    }

    /// Until the task is cancelled. A daemon that goes away is waited for; throws where the job cannot be watched any more. The
    /// screen is given back in any case.
    func run() async throws {
        StandardOutput.write("\u{1B}[?1049h\u{1B}[?25l")
        defer { StandardOutput.write("\u{1B}[?25h\u{1B}[?1049l") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            let (stimuli, continuation) = AsyncStream<Stimulus>.makeStream(bufferingPolicy: .bufferingNewest(1000))
            group.addTask { await follow(continuation) }
            group.addTask { await remind(continuation) }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: [.sigwinch]) { continuation.yield(.resized) }
            }
            defer { group.cancelAll() }
            // The first picture is taken once changes are told, so that none is in neither.
            var view: WatchView?
            var (isStale, refreshed) = (false, ContinuousClock.now)
            for await stimulus in stimuli {
                switch stimulus {
                case .change(let change):
                    view?.daemonAnswers()
                    view?.add(change)
                case .connected:
                    view?.daemonAnswers()
                    isStale = try await !refresh(&view)
                    refreshed = .now
                case .away where view == nil: throw APIError.daemonHasStopped
                case .away: view?.daemonIsAway(at: .now)
                case .moved, .tick:
                    if case .moved = stimulus { isStale = true }
                    let pause = ContinuousClock.now - refreshed
                    guard view?.awaySince == nil, pause >= (isStale ? Self.shortestPause : Self.longestPause) else {
                        continue
                    }
                    isStale = try await !refresh(&view)
                    refreshed = .now
                case .resized: break
                case .failed(let error): throw error
                }
                if let view { draw(view) }
            }
        }
    }

    /// - Returns: whether the daemon has told the figures. Whether it is away its events tell: it may only be busy.
    private func refresh(_ view: inout WatchView?) async throws -> Bool {
        do {
            let (details, peers) = (try await client.livingJob(job), try await client.peers())
            if view == nil { view = WatchView(job: details, peers: peers) }
            view?.job = details
            view?.peers = peers
            return true
        } catch let error as APIError where error.isAbsence {
            return false
        }
    }

    /// Passes on what the daemon tells, as often as there is one.
    private func follow(_ continuation: AsyncStream<Stimulus>.Continuation) async {
        while !Task.isCancelled {
            do {
                try await client.events(job: job, onSubscribed: { continuation.yield(.connected) }) { event in
                    switch event {
                    case .change(let change): continuation.yield(.change(change))
                    case .job, .reset: continuation.yield(.moved)
                    case .queue, .pause, .peer: break
                    }
                }
            } catch let error as APIError where error.isAbsence {
                // As good as an end without an error.
            } catch {
                return _ = continuation.yield(.failed(error))
            }
            continuation.yield(.away)
            try? await Task.sleep(for: Self.retryPause)
        }
    }

    private func remind(_ continuation: AsyncStream<Stimulus>.Continuation) async {
        while (try? await Task.sleep(for: Self.tick)) != nil { continuation.yield(.tick) }
    }

    /// Writes over the last picture line by line, which flickers less than clearing.
    private func draw(_ view: WatchView) {
        let lines = view.lines(on: .output)
        StandardOutput.write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
    }
}

extension APIError {
    /// Who reads a stream has to hear that no more of it comes.
    static var daemonHasStopped: APIError {
        APIError(.unreachable, "The daemon has stopped, and tells nothing more: start it, then watch again.")
    }

    /// Whether there is no daemon now, though there may be one later.
    fileprivate var isAbsence: Bool { code == .unreachable || code == .unavailable }
}
