import CRDT
import Engine
import Enrolment
import FleetTLS
import Identity
import LocalAPI
import Logging
import Replication
import Simulation
import Storage
import Synchronization
import Testing
import Transport
import WireFormat

@testable import Node

/// A laptop that may let others in, over its own port, and those who come with the code.
@Suite("Whom an invitation lets in", .timeLimit(.minutes(1)))
struct InvitationRoleTests {
    private final class Device: JoiningDevice {
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

    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Runs the inviter; `role` is its own.
    private func withInviter(
        _ role: FleetRole = .office, _ body: (InventoryService, FleetIdentity, PeerAddress) async throws -> Void
    ) async throws {
        let machine = SystemMachine(executor: nil)
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
                store: store, machine: machine, configuration: configuration, hostName: "anna", logger: Self.logger,
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

    /// Joins, and says yes whenever the device waits for it.
    ///
    /// - Returns: why not; nil when it was let in.
    private func join(
        _ device: Device, by code: String, at address: PeerAddress, of inviter: InventoryService
    ) async throws -> String? {
        let joiner = Joiner(device, addresses: { [address] }, hostName: "tom", logger: Self.logger)
        await joiner.join(by: try InvitationCode(code))
        for await step in joiner.steps {
            switch step {
            case .nothing, .searching: break
            case .waiting(let name):
                #expect(name == "anna")
                let request = AdmissionRequest(deviceID: device.key.publicKey.device.description)
                _ = try await inviter.admit(request, to: String(code.prefix(4)))
            case .joined: return nil
            case .failed(let failure): return failure.sentence
            }
        }
        return "It was given up."
    }

    @Test(
        "A laptop joins by an invitation for laptops and the server by one for servers, and neither by the other's",
        arguments: [FleetRole.reader, .member, .lead, .office, .server])
    func kinds(role: FleetRole) async throws {
        try await withInviter { inviter, _, address in
            let opened = try await inviter.openInvitation(InvitationRequest(role: role.rawValue))
            let code = try #require(opened.code)
            let other = Device(isServer: role.isLaptops)
            let refusal = try await join(other, by: code, at: address, of: inviter)
            #expect(refusal?.contains(role.isLaptops ? "this is a server" : "this is a laptop") == true)
            #expect(other.papers == [])
            #expect(try await inviter.invitation(opened.name).state == .unused, "that has cost nothing")
            let meant = Device(isServer: !role.isLaptops)
            #expect(try await join(meant, by: code, at: address, of: inviter) == nil)
            let certificate = try #require(try FleetCertificate.all(inPEM: meant.papers.joined()).first)
            #expect(certificate.role == role && certificate.key == meant.key.publicKey)
        }
    }

    @Test("Whose key is known as a laptop's does not become the server, and the server no laptop, whatever they say")
    func knownKeys() async throws {
        try await withInviter { inviter, _, address in
            for (first, second) in [(FleetRole.member, FleetRole.server), (.server, .member)] {
                let key = DeviceKey()
                var code = try #require(try await inviter.openInvitation(InvitationRequest(role: first.rawValue)).code)
                let honest = Device(key, isServer: first == .server)
                #expect(try await join(honest, by: code, at: address, of: inviter) == nil)
                code = try #require(try await inviter.openInvitation(InvitationRequest(role: second.rawValue)).code)
                let liar = Device(key, isServer: second == .server)
                #expect(try await join(liar, by: code, at: address, of: inviter) != nil && liar.papers == [])
            }
        }
    }

    @Test(
        "The inviter asks nobody for a proof who shows that they are of the other kind, whatever they would prove",
        arguments: [
            (FleetRole.server, FleetRole.reader), (.server, .office), (.server, .proxy), (.member, .server),
            (.office, .proxy),
        ])
    func ownWord(invited: FleetRole, shown: FleetRole) async throws {
        try await withInviter { inviter, _, address in
            let opened = try await inviter.openInvitation(InvitationRequest(role: invited.rawValue))
            let key = DeviceKey()
            let newcomer = FleetCredentials(
                certificates: [try CertificateAuthority.makeNewcomer(key, as: shown).bytes], key: key.pem)
            let connection = try await EnrolmentDialler().dial(address, showing: newcomer, accepts: { _ in true })
            connection.send(.ask(invitation: opened.name, name: "tom"))
            #expect(await connection.next(within: .seconds(5)) == .refusal(.otherKind))
            #expect(try await inviter.invitation(opened.name).state == .unused)
        }
    }

    @Test("Only the office invites a server, and nobody a proxy")
    func rights() async throws {
        try await withInviter(.lead) { inviter, _, _ in
            let problem = await #expect(throws: APIError.self) {
                _ = try await inviter.openInvitation(InvitationRequest(role: "server"))
            }
            #expect(problem?.message.contains("ask the office") == true)
        }
        try await withInviter { inviter, _, _ in
            let problem = await #expect(throws: APIError.self) {
                _ = try await inviter.openInvitation(InvitationRequest(role: "proxy"))
            }
            #expect(problem?.message.contains("by file") == true)
        }
    }
}
