package import CoreMetrics
import Synchronization

/// What a daemon has counted since it was started: the place of swift-metrics's counters, in memory.
///
/// It keeps the counters of `CounterName` and no others, so that no library fills the memory with names, and nobody with labels. To
/// count is one addition to an atomic integer; who counts much in one go adds it in one go.
package final class CounterRegistry: MetricsFactory, Sendable {
    private let counts: [CounterName: Count]

    /// Begins with zero everywhere.
    package init() {
        counts = Dictionary(
            CounterName.allCases.map { ($0, Count()) }, uniquingKeysWith: { first, _ in first })
    }

    /// How far a counter has come.
    package subscript(name: CounterName) -> Int64 { counts[name]?.value.load(ordering: .relaxed) ?? 0 }

    // MARK: MetricsFactory

    /// All counters of one name are one; of a name that is not known, or with labels, nothing is kept.
    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        guard dimensions.isEmpty, let name = CounterName(rawValue: label), let count = counts[name] else {
            return nothing
        }
        return count
    }

    /// Nothing is kept: what grows in fractions is not counted here.
    package func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        nothing
    }

    /// Nothing is kept: what stands at a value is worked out when somebody asks.
    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { nothing }

    /// Nothing is kept.
    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        nothing
    }

    /// Nothing is kept.
    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { nothing }

    /// A counter lives as long as the daemon.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    private var nothing: NOOPMetricsHandler { .instance }
}

/// One counter.
private final class Count: CounterHandler, Sendable {
    let value = Atomic<Int64>(0)

    func increment(by amount: Int64) {
        // What is told only grows, whatever somebody adds.
        guard amount > 0 else { return }
        value.wrappingAdd(amount, ordering: .relaxed)
    }

    /// Only a start of the daemon begins anew: whoever watches would take anything else for one.
    func reset() {}
}

extension MetricsFactory {
    /// One of the counters that a daemon tells.
    package func counter(_ name: CounterName) -> Counter {
        Counter(label: name.rawValue, dimensions: [], factory: self)
    }
}
