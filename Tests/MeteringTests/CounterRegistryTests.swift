import CoreMetrics
import Testing

@testable import Metering

@Suite("What is counted")
struct CounterRegistryTests {
    @Test("All counters of a name are one, and the others stay as they are")
    func together() {
        let registry = CounterRegistry()
        let (one, other) = (registry.counter(.commits), registry.counter(.commits))
        one.increment()
        other.increment(by: 41)
        #expect(registry[.commits] == 42)
        for name in CounterName.allCases where name != .commits { #expect(registry[name] == 0, "\(name)") }
    }

    @Test("Nothing but a start sets one back")
    func onlyGrows() {
        let registry = CounterRegistry()
        let counter = registry.counter(.polls)
        counter.increment(by: 3)
        counter.increment(by: -2)
        counter.reset()
        counter.destroy()
        registry.counter(.polls).increment()
        #expect(registry[.polls] == 4)
        #expect(CounterRegistry()[.polls] == 0)
    }

    @Test("Names that nobody knows, and labels, take no memory: they are all one that keeps nothing")
    func bounded() {
        let registry = CounterRegistry()
        for number in 0..<1_000 {
            #expect(registry.makeCounter(label: "made_up_\(number)", dimensions: []) is NOOPMetricsHandler)
        }
        let labelled = registry.makeCounter(label: CounterName.polls.rawValue, dimensions: [("job", "7")])
        labelled.increment(by: 5)
        #expect(labelled is NOOPMetricsHandler && registry[.polls] == 0)
        #expect(registry.makeTimer(label: "muster_store_commits_total", dimensions: []) is NOOPMetricsHandler)
    }

    @Test("Counting from many threads loses nothing")
    func threads() async {
        let registry = CounterRegistry()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let counter = registry.counter(.bytesSent)
                    for _ in 0..<10_000 { counter.increment(by: 2) }
                }
            }
        }
        #expect(registry[.bytesSent] == 160_000)
    }

    @Test("Names are Prometheus's: counters end with _total, each says what it is, and no two are alike")
    func names() {
        for name in CounterName.allCases {
            #expect(name.rawValue.wholeMatch(of: /muster_[a-z]+(_[a-z]+)*_total/) != nil, "\(name.rawValue)")
            #expect(name.help.hasSuffix(".") && !name.help.contains("\n"))
        }
        #expect(Set(CounterName.allCases.map(\.help)).count == CounterName.allCases.count)
    }
}
