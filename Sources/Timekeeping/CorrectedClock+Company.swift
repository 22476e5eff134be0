/// Laptops that no server stands behind settle on one time among themselves.
///
/// A laptop that is alone has shown its work to nobody and can still stamp it anew, so it joins those who have agreed
/// already, forward or back. Of two that are alone, and of two that have agreed with others, the one that is behind
/// follows (Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System", 1978): a time that others have
/// seen only moves forward.
extension CorrectedClock {
    /// Less than this is not worth a step: what a laptop's clock may gain on another one in half a minute, thrice.
    static let leastStep: Int64 = 20_000

    /// Another laptop without a server has answered.
    mutating func onCompany(
        _ exchange: TimeExchange, quality: ClockQuality, from source: TimeSource, at elapsed: Int64
    ) -> [ClockDirective] {
        guard !isSynchronised else { return rememberIfUseful(at: elapsed) }
        guard differs(from: exchange) else { return agree(at: elapsed) }
        let isAhead = exchange.offset > base.offset
        let follows = base.isAgreed == quality.isAgreed ? isAhead : quality.isAgreed
        guard follows else { return rememberIfUseful(at: elapsed) }
        // As far as it is certainly there, whatever way the delay fell: so nobody is ever ahead of the one that leads,
        // and two laptops cannot push each other on.
        let certain = ClockEstimate(
            offset: exchange.offset - exchange.delay / 2 - 2, uncertainty: ClockQuality.unknownUncertainty,
            measured: exchange.returned, stratum: ClockQuality.agreedStratum, source: source)
        return adopt(certain, at: elapsed)
    }

    /// Whether work may be shown to a source that has answered, as far as time is concerned: the source's time is this
    /// clock's, or one of the two has a server and does not wait for the other. Otherwise the source has yet to follow.
    package func isSettled(with exchange: TimeExchange, quality: ClockQuality, at elapsed: Int64) -> Bool {
        isSynchronised || quality.isSynchronised || !Self.isCredible(exchange, at: elapsed) || !differs(from: exchange)
    }

    private func differs(from exchange: TimeExchange) -> Bool {
        abs(exchange.offset - base.offset) > Self.leastStep + exchange.delay / 2 + 2
    }

    private mutating func agree(at elapsed: Int64) -> [ClockDirective] {
        base = base.agreed
        return rememberIfUseful(at: elapsed)
    }
}
