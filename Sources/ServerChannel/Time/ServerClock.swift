package import Logging
package import Timekeeping

/// Goes on asking a server for the time, seldom and patiently.
package struct ServerClock: Sendable {
    private let connections: ServerConnections
    private let elapsed: @Sendable () -> Int64
    private let isNeeded: @Sendable () -> Bool
    private let logger: Logger

    /// - Parameters:
    ///   - elapsed: microseconds of a clock that never goes back.
    ///   - isNeeded: false while other answers of the server tell the time, and while there is no way to it.
    package init(
        _ connections: ServerConnections, elapsed: @escaping @Sendable () -> Int64,
        isNeeded: @escaping @Sendable () -> Bool = { true }, logger: Logger
    ) {
        self.connections = connections
        self.elapsed = elapsed
        self.isNeeded = isNeeded
        self.logger = logger
    }

    /// Asks until it is cancelled, and hands on each answer that can be true.
    package func run(hearing hear: @Sendable (TimeExchange) async -> Void) async {
        let time = ServerTime(connections: connections, elapsed: elapsed)
        var plan = AskingPlan()
        var generator = SystemRandomNumberGenerator()
        var last: ServerTime.Answer?
        while !Task.isCancelled {
            guard isNeeded() else {
                try? await Task.sleep(for: .milliseconds(AskingPlan.interval))
                continue
            }
            let answer = await time.ask()
            if Task.isCancelled { break }
            log(answer, after: last)
            last = answer
            let delay: UInt64
            if case .told(let exchange) = answer {
                await hear(exchange)
                delay = plan.afterAnswer(using: &generator)
            } else {
                delay = plan.afterFailure(using: &generator)
            }
            try? await Task.sleep(for: .milliseconds(delay))
        }
    }

    /// Once for each turn of affairs.
    private func log(_ answer: ServerTime.Answer, after last: ServerTime.Answer?) {
        switch (answer, last) {
        case (.told, .told), (.wrong, .wrong), (.unreachable, .unreachable): break
        case (.told, _): logger.info("the server tells the time", metadata: ["server": "\(connections.address)"])
        case (.unreachable(let reason), _):
            logger.info(
                "the server is out of reach", metadata: ["server": "\(connections.address)", "reason": "\(reason)"])
        case (.wrong(let reason), _):
            logger.warning(
                "what answers is not the server", metadata: ["server": "\(connections.address)", "reason": "\(reason)"])
        }
    }
}
