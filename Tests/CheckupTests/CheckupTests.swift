import Foundation
import LocalAPI
import Testing

@testable import Checkup

struct CheckupTests {
    static let disks: [(UInt64?, HealthCheck.Outcome)] = [
        (nil, .fail), (99_999_999, .fail), (100_000_000, .warn), (999_999_999, .warn), (1_000_000_000, .ok),
    ]

    @Test("A disk warns below 1 GB and fails below 100 MB", arguments: disks)
    func disk(free: UInt64?, outcome: HealthCheck.Outcome) {
        let check = DiskSpace.check(free: free, directory: "/var/lib/muster")
        #expect(check.outcome == outcome)
        #expect((check.remedy == nil) == (outcome == .ok))
    }

    static let interfaces: [(String, String?, NetworkInterface.Kind)] = [
        ("wlp2s0", "iwlwifi", .network), ("eth0", "virtio_net", .network), ("eth0", "veth", .network),
        ("br0", "bridge", .network), ("enx00", nil, .network), ("tuna", "r8152", .network),
        ("corp0", "tun", .tunnel), ("office", "wireguard", .tunnel), ("eth7", "tun", .tunnel),
        ("tailscale0", nil, .tunnel), ("wg0", nil, .tunnel),
        ("docker0", "bridge", .container), ("br-4f1d8a2b7c3e", "bridge", .container),
        ("virbr0", "bridge", .container), ("veth91ab", "veth", .container),
    ]

    @Test(
        "What stands behind an interface is told by its driver, and by its name where that tells nothing",
        arguments: interfaces)
    func kinds(name: String, driver: String?, kind: NetworkInterface.Kind) {
        #expect(NetworkInterface.kind(name: name, driver: driver) == kind)
    }

    @Test("A laptop with a VPN and containers alone is warned, one without an address fails")
    func networks() {
        let tunnel = NetworkInterface(name: "corp0", kind: .tunnel, addresses: ["10.9.0.1"])
        let docker = NetworkInterface(name: "docker0", kind: .container, addresses: ["172.17.0.1"])
        let wifi = NetworkInterface(name: "wlp2s0", kind: .network, addresses: ["192.168.1.20"])
        #expect(Checkup.fault(of: [])?.outcome == .fail)
        #expect(Checkup.fault(of: [tunnel, docker])?.outcome == .warn)
        #expect(
            Checkup.fault(of: [tunnel, docker])?.finding.contains("corp0 (a VPN), docker0 (for containers)") == true)
        #expect(Checkup.fault(of: [tunnel, docker, wifi]) == nil)
        #expect(Checkup.addresses(of: [tunnel, wifi]) == "10.9.0.1, 192.168.1.20")
    }

    @Test("Without a daemon every check is told, and what only the daemon knows is unknown, not well")
    func withoutDaemon() {
        let dead = HealthCheck.fail(.daemon, "it is dead", remedy: "start it")
        let report = Checkup.report(withoutDaemon: dead, stateDirectory: NSTemporaryDirectory())
        #expect(report.checks.map(\.id) == HealthCheck.ID.all)
        #expect(!report.isHealthy && report.version == nil)
        for check in report.checks { #expect((check.remedy == nil) == (check.outcome == .ok), "\(check)") }
        func outcome(_ id: HealthCheck.ID) -> HealthCheck.Outcome? { report.checks.first { $0.id == id }?.outcome }
        #expect(outcome(.daemon) == .fail)
        for id in [HealthCheck.ID.store, .server, .clock, .fleet, .reach] { #expect(outcome(id) == .unknown) }
        #expect(outcome(.disk) != .unknown)
        let elsewhere = Checkup.report(withoutDaemon: dead, stateDirectory: nil)
        #expect(elsewhere.checks.first { $0.id == .disk }?.outcome == .unknown)
    }

    @Test("The page for operators explains every check, in the order in which they are shown")
    func documented() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/operations.md"), encoding: .utf8)
        let part = try #require(page.components(separatedBy: "## What each alarm means").dropFirst().first)
            .components(separatedBy: "\n## ")[0]
        let told = part.split(separator: "\n").compactMap { line in
            line.hasPrefix("| `") ? line.dropFirst(3).prefix { $0 != "`" } : nil
        }
        #expect(told.map(String.init) == HealthCheck.ID.all.map(\.rawValue))
    }
}
