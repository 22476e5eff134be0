import Foundation
import HTTPCoding
import Inventory
import LocalAPI
import LocalAPIServer
import Logging
import Testing

@testable import Node
@testable import Systemd
@testable import muster

/// What a report tells of the customer: nothing, unless somebody asks for it.
@Suite(.timeLimit(.minutes(2)))
struct ReportTests {
    /// In every field that a person writes.
    private static let mark = "ZQX"

    private static func file() -> String { NSTemporaryDirectory() + "muster-report-\(UUID().uuidString).json" }

    /// A laptop whose every text is marked: names of jobs twice over, items, barcodes, notes, people, what is paused.
    private static func marked() async throws -> (Scene, RecentLog) {
        let scene = try await Scene()
        let service = scene.service
        let people = try await service.called(by: LocalCaller(user: 1_000)).beginSession(
            BeginSessionRequest(name: "\(mark)-person", isNew: true))
        #expect(people.session?.name == "\(mark)-person")
        for id in ["1", "2"] {
            _ = try await service.createJob(CreateJobRequest(name: "\(mark)-job", kind: .pickup, id: "plain-\(id)"))
        }
        let item = try await service.addItem(
            FieldsRequest(fields: ["name": "\(mark)-item", "barcode": "\(mark)-barcode", "room": "\(mark)-room"]),
            job: "plain-1")
        _ = try await service.addNote(NoteRequest(text: "\(mark)-note"), item: item.id, job: "plain-1")
        _ = try await service.advance(AdvanceRequest(state: "dispatched"), job: "plain-1")
        _ = try await service.pause(LaneRequest(lane: "plain-1/state"))
        let log = RecentLog()
        var logger = Logger(label: "test") { _ in RecentLogHandler(SwiftLogNoOpLogHandler(), keepingIn: log) }
        logger.logLevel = .info
        let fields: [String: String] = [
            "error": "\(mark)-error", "reason": "\(mark)-reason", "name": "\(mark)-name", "path": "/v1/jobs/\(mark)",
            "query": "name=\(mark)", "last": "\(mark)-last", "detail": "\(mark)-detail", "remedy": "\(mark)",
            "someday": "\(mark)-of a line that nobody has written yet",
        ]
        logger.warning(
            "a line of the log",
            metadata: fields.mapValues { "\($0)" }.merging(["job": "plain-1", "times": "3"]) { $1 })
        logger.info("an invitation", metadata: ["invitation": "secret-word"])
        return (scene, log)
    }

    private static func report(_ options: [String]) async throws -> (outcome: MusterProcess.Outcome, text: String) {
        let (scene, log) = try await marked()
        // The service's own words, and not what the scene makes of them: its doctor names jobs.
        let service = scene.anna.core.service(
            gateway: nil, discovery: DiscoveryState(DiscoveryStatus(state: .available)), recentLog: log)
        let named = try await service.doctor().checks.filter { $0.finding.contains(mark) }.map(\.id)
        #expect(named.contains(.jobs))
        let file = Self.file()
        defer { try? FileManager.default.removeItem(atPath: file) }
        let outcome = try await withDaemon(service) { socket in
            try await MusterProcess.run(["report", file] + options, socket: socket)
        }
        return (outcome, try String(contentsOfFile: file, encoding: .utf8))
    }

    @Test("Whatever people have written stays out of a report, and what helps is in it")
    func withoutCustomerData() async throws {
        let (outcome, text) = try await Self.report([])
        #expect(outcome.exitCode == 0 && outcome.output.contains("without the customer's data"), "\(outcome)")
        let line = text.split(separator: "\n").first { $0.contains(Self.mark) }
        #expect(line == nil)
        #expect(!text.contains("secret-word"))
        // Of what the scene has written, too.
        for words in ["Smith", "Elm Street", "Sofa", "2000000000091", "scratched", "advance to"] {
            #expect(!text.contains(words), "\(words)")
        }
        let report = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        for part in [
            "doctor", "versions", "settings", "status", "peers", "clock", "queue", "queueLog", "store", "events",
        ] {
            #expect(report[part] != nil, "\(part)")
        }
        #expect(report["missing"] as? [String] == [])
        #expect(report["customerData"] == nil)
        let events = try #require(report["events"] as? [[String: Any]])
        let first = try #require(events.first)
        #expect(first["event"] as? String == "a line of the log")
        #expect(first["details"] as? [String: String] == ["job": "plain-1", "times": "3"])
        #expect(text.contains("plain-1"), "ids of jobs stay")
    }

    @Test("Asked for, all of it is there; a secret is not")
    func withCustomerData() async throws {
        let (outcome, text) = try await Self.report(["--with-customer-data"])
        #expect(outcome.exitCode == 0 && outcome.output.contains("with the customer's data"), "\(outcome)")
        for word in ["job", "item", "barcode", "room", "note", "person", "error", "reason"] {
            #expect(text.contains("\(Self.mark)-\(word)"), "\(word)")
        }
        #expect(!text.contains("secret-word"))
    }

    @Test("A file that is there is not written over")
    func existing() async throws {
        let file = Self.file()
        try Data("mine".utf8).write(to: URL(filePath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let outcome = try await MusterProcess.run(["report", file], socket: "/tmp/muster-nobody.sock")
        #expect(outcome.exitCode == 65 && outcome.error.contains("is there already: name another file"), "\(outcome)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
    }

    @Test("Without a daemon a report says what is missing", arguments: [[], ["--json"]])
    func withoutDaemon(options: [String]) async throws {
        let file = Self.file()
        defer { try? FileManager.default.removeItem(atPath: file) }
        let outcome = try await MusterProcess.run(["report", file] + options, socket: "/tmp/muster-nobody.sock")
        #expect(outcome.exitCode == 0, "\(outcome)")
        #expect(outcome.output.contains("what only the daemon knows"))
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let report = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let checks = (report["doctor"] as? [String: Any])?["checks"] as? [[String: Any]]
        #expect(checks?.count == HealthCheck.ID.all.count)
        let missing = try #require(report["missing"] as? [String])
        // This socket is nobody's service.
        #expect(missing.count == 2 && missing[1].hasPrefix("the daemon's log: its socket is not that of the service"))
        #expect(report["events"] == nil && report["customerData"] == nil)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }
}
