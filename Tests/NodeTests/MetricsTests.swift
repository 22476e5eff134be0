import Engine
import Foundation
import LocalAPI
import Metering
import Storage
import Testing

@testable import Node

@Suite(.timeLimit(.minutes(1)))
struct MetricsTests {
    private static let names = MetricName.allCases.map(\.rawValue) + CounterName.allCases.map(\.rawValue)

    @Test(
        "No number is told twice, only what is counted is called a total, and none has labels, in which a name could stand"
    )
    func names() {
        #expect(Set(Self.names).count == Self.names.count)
        for name in MetricName.allCases { #expect(!name.rawValue.hasSuffix("_total") && !name.help.contains("\n")) }
        for name in Self.names { #expect(name.wholeMatch(of: /muster_[a-z]+(_[a-z]+)*/) != nil, "\(name)") }
    }

    @Test("What is done is counted, each thing once")
    func counted() async throws {
        let anna = try await Laptop("anna")
        let job = try await anna.job("Smith")
        // The mesh hears of commits in its own time.
        await anna.service.replicator.tellCommitted()
        let before = try await values(of: anna)
        for number in 1...3 {
            _ = try await anna.service.addItem(FieldsRequest(fields: ["name": "Chair \(number)"]), job: job)
        }
        await anna.service.replicator.tellCommitted()
        let after = try await values(of: anna)
        #expect(after["muster_store_commits_total"] == (before["muster_store_commits_total"] ?? 0) + 3)
        #expect((after["muster_changes_written_total"] ?? 0) - (before["muster_changes_written_total"] ?? 0) == 3)
        _ = try await anna.service.items(job: job, matching: [], as: .array)
        await anna.store.waitForWriter()
        #expect(try await values(of: anna)["muster_store_commits_total"] == after["muster_store_commits_total"])
    }

    private func values(of laptop: Laptop) async throws -> [String: Double] {
        Dictionary(uniqueKeysWithValues: try await laptop.service.metrics().map { ($0.name, $0.value) })
    }

    @Test("The dashboard shows every number that the daemon tells, and no other")
    func dashboard() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Examples/metrics/dashboard.json")
        let text = try String(contentsOf: file, encoding: .utf8)
        _ = try JSONSerialization.jsonObject(with: Data(text.utf8))
        let shown = text.matches(of: /muster_[a-z_]+/).map { String($0.output) }
        #expect(Set(shown) == Set(Self.names))
        // Of what only grows people want to see how fast.
        for name in CounterName.allCases { #expect(text.contains("\"rate(\(name.rawValue)[5m])\""), "\(name)") }
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
        #expect(text.contains("# TYPE muster_links_opened_total counter\nmuster_links_opened_total 0\n"))
        #expect(metrics.map(\.name).filter { $0.hasSuffix("_total") } == CounterName.allCases.map(\.rawValue))
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            #expect(line.wholeMatch(of: /[a-z_]+ -?[0-9.e+-]+/) != nil, "\(line)")
        }
    }
}
