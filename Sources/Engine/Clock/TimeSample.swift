package import Timekeeping

/// What a source has told of the time.
///
/// One value rather than its parts: an async function that took them one by one, with a device's 128-bit halves on the
/// stack, went on at a wrong place (Swift 6.3.1 on x86-64).
package struct TimeSample: Sendable {
    let exchange: TimeExchange
    /// Of the source's clock.
    let quality: ClockQuality
    let source: TimeSource

    init(exchange: TimeExchange, quality: ClockQuality, source: TimeSource) {
        self.exchange = exchange
        self.quality = quality
        self.source = source
    }

    /// The server's own time.
    package static func server(_ exchange: TimeExchange) -> TimeSample {
        TimeSample(exchange: exchange, quality: ClockQuality(stratum: 0, uncertainty: 0), source: .server)
    }
}
