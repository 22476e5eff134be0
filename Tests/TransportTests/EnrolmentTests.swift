import CRDT
import FleetTLS
import Identity
import NIOSSL
import Replication
import Simulation
import Synchronization
import Testing
import Transport
import WireFormat

@Suite("Enrolment", .timeLimit(.minutes(1)))
struct EnrolmentTests {
    /// A laptop that hears whoever shows one certificate, while it is open.
    final class Host: LinkSecurity, EnrolmentHandler {
        let member: CrewMember
        let isOpen: Bool
        let answers: @Sendable (EnrolmentConnection) async -> Void
        private let chains = Mutex<[[[UInt8]]]>([])

        init(isOpen: Bool = true, _ answers: @escaping @Sendable (EnrolmentConnection) async -> Void) throws {
            member = try CrewMember()
            self.isOpen = isOpen
            self.answers = answers
        }

        var applicants: [[[UInt8]]] { chains.withLock { $0 } }
        var credentials: FleetCredentials? { member.credentials }

        func admit(_ chain: [[UInt8]]) async throws(LinkRefusal) -> DeviceID { try await member.admit(chain) }
        func hears(_ chain: [[UInt8]]) async -> Bool { isOpen && chain.count == 1 }

        func applied(_ connection: EnrolmentConnection) async {
            chains.withLock { $0.append(connection.chain) }
            await answers(connection)
        }
    }

    private let newcomer: FleetCredentials
    private let certificate: [UInt8]

    init() throws {
        let key = DeviceKey()
        certificate = try CertificateAuthority.makeNewcomer(key).bytes
        newcomer = FleetCredentials(certificates: [certificate], key: key.pem)
    }

    /// One transport is both sides.
    private func withHost(
        _ host: Host, _ handler: RecordingHandler = RecordingHandler(),
        _ body: (PeerTransport, PeerAddress) async throws -> Void
    ) async throws {
        try await withTransport(handler, security: host, enrolment: host) { transport, port in
            try await body(transport, PeerAddress(host: "127.0.0.1", port: port))
        }
    }

    @Test("Both sides speak in turn, and see each other's certificates")
    func conversation() async throws {
        let host = try Host { connection in
            guard case .ask("7K3M", "tom")? = await connection.next(within: .seconds(5)) else { return }
            connection.prove()
            connection.end(with: .refusal(.withdrawn))
        }
        let handler = RecordingHandler()
        try await withHost(host, handler) { transport, address in
            let connection = try await transport.enrolmentDialler.dial(
                address, showing: newcomer, accepts: { _ in true })
            #expect(connection.chain == host.member.credentials?.certificates)
            connection.send(.ask(invitation: "7K3M", name: "tom"))
            #expect(await connection.next(within: .seconds(5)) == .refusal(.withdrawn))
            #expect(await connection.next(within: .seconds(5)) == nil, "it has ended")
        }
        #expect(host.applicants == [[certificate]])
        #expect(handler.events.opened.isEmpty && handler.events.refusals.isEmpty)
    }

    @Test("A member is heard, too, with its whole chain")
    func member() async throws {
        let host = try Host { $0.end(with: .renewal) }
        let member = try CrewMember()
        try await withHost(host) { transport, address in
            let credentials = try #require(member.credentials)
            let connection = try await transport.enrolmentDialler.dial(
                address, showing: credentials, accepts: { _ in true })
            #expect(await connection.next(within: .seconds(5)) == .renewal)
        }
        #expect(host.applicants == [member.credentials?.certificates])
    }

    @Test("While nobody is invited a stranger gets nowhere, and that is noted")
    func closed() async throws {
        let host = try Host(isOpen: false) { $0.end(with: .renewal) }
        let handler = RecordingHandler()
        try await withHost(host, handler) { transport, address in
            let connection = try? await transport.enrolmentDialler.dial(
                address, showing: newcomer, accepts: { _ in true })
            // In TLS 1.3 a client is through before the server has looked at its certificate (RFC 8446 section 2).
            #expect(await connection?.next(within: .seconds(5)) == nil)
            await handler.wait { $0.refusals.count == 1 }
        }
        #expect(host.applicants.isEmpty)
    }

    @Test("Who is only heard is no peer: it gets no link")
    func noLink() async throws {
        let host = try Host { $0.end(with: .renewal) }
        let handler = RecordingHandler()
        try await withHost(host, handler) { _, address in
            let key = DeviceKey()
            let tls = try TLSConfiguration.showing([CertificateAuthority.makeNewcomer(key).bytes], key)
            let stranger = try await RawPeer.connect(port: address.port, tls: tls)
            try stranger.say(Samples.hello)
            try await stranger.untilClosed()
            await handler.wait { $0.refusals.count == 1 }
        }
        #expect(handler.events.opened.isEmpty && host.applicants.isEmpty)
    }

    @Test("A laptop decides on the one that it asks before it says anything")
    func accepts() async throws {
        let host = try Host { $0.end(with: .renewal) }
        try await withHost(host) { transport, address in
            await #expect(throws: (any Error).self) {
                _ = try await transport.enrolmentDialler.dial(address, showing: newcomer, accepts: { _ in false })
            }
        }
        #expect(host.applicants.isEmpty)
    }

    @Test("Who says nothing, and who says too much, is cut off")
    func outOfTurn() async throws {
        let silent = try Host { connection in
            #expect(await connection.next(within: .milliseconds(50)) == nil)
        }
        try await withHost(silent) { transport, address in
            let connection = try await transport.enrolmentDialler.dial(
                address, showing: newcomer, accepts: { _ in true })
            #expect(await connection.next(within: .seconds(5)) == nil)
            #expect(connection.isClosed)
        }
        let (deaf, opened) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let busy = try Host { _ in
            opened.continuation.yield()
            for await _ in deaf.stream {}
        }
        try await withHost(busy) { transport, address in
            let connection = try await transport.enrolmentDialler.dial(
                address, showing: newcomer, accepts: { _ in true })
            for await _ in opened.stream { break }
            for _ in 0..<5 { connection.send(.renewal) }
            #expect(await connection.next(within: .seconds(5)) == nil)
        }
        deaf.continuation.finish()
    }
}
