import Identity
import NIOCore
import NIOSSL
import Replication
import Simulation
import Testing
import Transport

@Suite("Strangers", .timeLimit(.minutes(1)))
struct StrangerTests {
    /// Who knocks, and a word of what is noted of it.
    enum Knock: String, CaseIterable {
        case withoutCertificate = "PEER_DID_NOT_RETURN_A_CERTIFICATE"
        case selfSigned = "KEY_USAGE_BIT_INCORRECT"
        case ofAnotherFleet = "another fleet"
        case tls12 = "UNSUPPORTED_PROTOCOL"
        case otherProtocol = "another protocol than muster/1"

        var tls: TLSConfiguration {
            get throws {
                switch self {
                case .withoutCertificate: return .unknown()
                case .selfSigned:
                    let key = DeviceKey()
                    let root = try CertificateAuthority.makeRoot(key, now: TestFleet.today)
                    return try .showing([root.certificate.bytes], key)
                case .ofAnotherFleet: return try .member(of: CrewMember.otherFleet)
                case .tls12:
                    var configuration = try TLSConfiguration.member()
                    configuration.maximumTLSVersion = .tlsv12
                    return configuration
                case .otherProtocol:
                    var configuration = try TLSConfiguration.member()
                    configuration.applicationProtocols = ["h2"]
                    return configuration
                }
            }
        }
    }

    @Test("are turned away with a reason, and a member beside them is not disturbed", arguments: Knock.allCases)
    func turnedAway(knock: Knock) async throws {
        let handler = RecordingHandler()
        try await withTransport(handler) { _, port in
            let member = try await RawPeer.connect(port: port)
            try member.say(Samples.hello)
            await handler.wait { $0.messages.count == 1 }
            let stranger = try await RawPeer.connect(port: port, tls: knock.tls)
            try stranger.say(Samples.hello)
            try await stranger.untilClosed()
            await handler.wait { $0.refusals.count == 1 }
            #expect(handler.events.refusals[0].contains(knock.rawValue), "\(handler.events.refusals[0])")
            try member.say(.ping(1))
            await handler.wait { $0.messages.last == .ping(1) }
            await member.close()
        }
        #expect(handler.events.messages.count == 2 && handler.events.opened.count == 1)
    }

    @Test("who encrypt nothing get no answer")
    func inTheClear() async throws {
        let handler = RecordingHandler()
        try await withTransport(handler) { _, port in
            let stranger = try await RawPeer.connectInTheClear(port: port)
            try stranger.say(Samples.hello)
            try await stranger.untilClosed()
            await handler.wait { $0.refusals.count == 1 }
        }
        #expect(handler.events.opened.isEmpty)
    }

    @Test("who listen are not talked to either")
    func dialled() async throws {
        let stranger = RecordingHandler()
        let handler = RecordingHandler()
        try await withTransport(stranger, security: try CrewMember(of: CrewMember.otherFleet)) { _, port in
            try await withTransport(handler) { transport, _ in
                transport.dial(PeerAddress(host: "127.0.0.1", port: port))
                await handler.wait { $0.dialFailures == 1 }
                await stranger.wait { $0.refusals.count == 1 }
            }
        }
        #expect(handler.events.opened.isEmpty && stranger.events.opened.isEmpty)
    }

    @Test("A laptop without a fleet talks to nobody")
    func outsider() async throws {
        let outsider = RecordingHandler()
        let handler = RecordingHandler()
        try await withTransport(handler) { member, port in
            try await withTransport(outsider, security: Outsider()) { transport, outsidersPort in
                transport.dial(PeerAddress(host: "127.0.0.1", port: port))
                await outsider.wait { $0.dialFailures == 1 }
                member.dial(PeerAddress(host: "127.0.0.1", port: outsidersPort))
                await handler.wait { $0.dialFailures == 1 }
                await outsider.wait { $0.refusals.count == 1 }
            }
        }
        #expect(handler.events.opened.isEmpty && outsider.events.opened.isEmpty)
        #expect(outsider.events.refusals[0].contains("belongs to no fleet"))
    }
}
