import CRDT
import Engine
import Enrolment
import Identity
import LocalAPI
import Logging
import Replication
import Simulation
import Storage
import Synchronization
import Testing
import Transport

@testable import Node

let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// A laptop or a server that joins, and what it was given.
final class TestNewcomer: JoiningDevice {
    let key: DeviceKey
    let isServer: Bool
    private let installed = Mutex<[String]>([])

    init(_ key: DeviceKey = DeviceKey(), isServer: Bool) {
        self.key = key
        self.isServer = isServer
    }

    var papers: [String] { installed.withLock { $0 } }
    func objection(to fleet: FleetTrust) -> String? { nil }
    func install(_ pem: String) async throws { installed.withLock { $0.append(pem) } }
}

/// Runs a laptop that may let others in, on a port of its own.
///
/// - Parameter role: its own.
func withInviter(
    _ role: FleetRole = .office, on machine: any Machine = SystemMachine(executor: nil),
    _ body: (InventoryService, FleetIdentity, PeerAddress) async throws -> Void
) async throws {
    let fleet = try TestFleet(founded: Int64(clamping: machine.wallMilliseconds))
    let key = DeviceKey()
    let right = try fleet.root.issue(
        .issuer, to: key.publicKey, as: role, now: Int64(clamping: machine.wallMilliseconds))
    let identity = FleetIdentity(key: key)
    var generator = SeededGenerator(seed: 1)
    let store = try Store.openInMemory(
        place: StorePlace(machine: "a", file: "a"), hostName: "anna", generator: &generator)
    var configuration = NodeConfiguration()
    configuration.listen = PeerAddress(host: "127.0.0.1", port: 0)
    let core = try await Core(
        Core.Parts(
            store: store, machine: machine, configuration: configuration, hostName: "anna", logger: silent,
            fleet: identity))
    try await identity.install(right.pem + fleet.root.certificate.pem)
    let service = core.service(gateway: nil, discovery: DiscoveryState(DiscoveryStatus(state: .off)))
    let running = Task { await core.transport.run() }
    defer { running.cancel() }
    while core.transport.boundPort == nil { try await Task.sleep(for: .milliseconds(2)) }
    let port = try #require(core.transport.boundPort)
    try await body(service, identity, PeerAddress(host: "127.0.0.1", port: port))
    running.cancel()
    await running.value
}

/// The real machine, whose time can be skipped: whoever sleeps until then is woken.
final class SkippingMachine: Machine {
    private struct State {
        var skippedMicroseconds: Int64 = 0
        var sleepers = 0
    }

    private let real = SystemMachine(executor: nil)
    private let state = Mutex(State())

    var elapsedMicroseconds: Int64 { real.elapsedMicroseconds + state.withLock { $0.skippedMicroseconds } }
    var wallMicroseconds: Int64 { real.wallMicroseconds + state.withLock { $0.skippedMicroseconds } }
    var bootID: String { real.bootID }
    var executor: (any TaskExecutor)? { nil }

    func skip(milliseconds: UInt64) {
        state.withLock { $0.skippedMicroseconds += Int64(clamping: milliseconds) * 1_000 }
    }

    /// Until so many have begun to wait: what is skipped before does not count for them.
    func hasSleepers(_ count: Int) async throws {
        while state.withLock({ $0.sleepers }) < count { try await real.sleep(milliseconds: 2) }
    }

    func sleep(milliseconds: UInt64) async throws {
        let end = elapsedMilliseconds + milliseconds
        state.withLock { $0.sleepers += 1 }
        defer { state.withLock { $0.sleepers -= 1 } }
        while elapsedMilliseconds < end { try await real.sleep(milliseconds: min(milliseconds, 20)) }
    }

    func random() -> UInt64 { real.random() }
}
