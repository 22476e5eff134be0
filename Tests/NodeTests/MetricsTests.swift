import Foundation
import LocalAPI
import Testing

@testable import Node

@Suite(.timeLimit(.minutes(1)))
struct MetricsTests {
    @Test("The dashboard shows every number that the daemon tells, and no other")
    func dashboard() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Examples/metrics/dashboard.json")
        let text = try String(contentsOf: file, encoding: .utf8)
        _ = try JSONSerialization.jsonObject(with: Data(text.utf8))
        let shown = text.matches(of: /muster_[a-z_]+/).map { String($0.output) }
        #expect(Set(shown) == Set(MetricName.allCases.map(\.rawValue)))
    }

    @Test("What is known is told, in Prometheus's text, and what is not is left out")
    func told() async throws {
        let anna = try await Laptop("anna")
        _ = try await anna.job("Smith")
        let metrics = try await anna.service.metrics()
        let values = Dictionary(uniqueKeysWithValues: metrics.map { ($0.name, $0.value) })
        #expect(values["muster_jobs"] == 1 && values["muster_links"] == 0 && values["muster_clock_synchronised"] == 0)
        #expect(values["muster_server_reached"] == nil && values["muster_clock_drift_seconds"] == nil)
        let text = Metric.prometheus(metrics)
        #expect(text.contains("# TYPE muster_jobs gauge\nmuster_jobs 1\n"))
        #expect(text.contains("# TYPE muster_refused_runs gauge\nmuster_refused_runs 0\n"))
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            #expect(line.wholeMatch(of: /[a-z_]+ -?[0-9.e+-]+/) != nil, "\(line)")
        }
    }
}
