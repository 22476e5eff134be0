import Enrolment
import FleetTLS
import Identity
import Logging
import Replication
import Simulation
import Synchronization
import Testing
import Transport
import WireFormat

/// What a newcomer makes of somebody who says that it is the inviter. The true one: NodeTests.
@Suite("Joining by a code", .timeLimit(.minutes(1)))
struct JoinerTests {
    private struct Device: JoiningDevice {
        let key = DeviceKey()
        var isServer: Bool
        var refuses = false
        let installed = Mutexed<[String]>([])

        func objection(to fleet: FleetTrust) -> String? { refuses ? "Not \(fleet.short)." : nil }
        func install(_ pem: String) async throws { installed.value.withLock { $0.append(pem) } }
    }

    /// In a class, so that a value can hold it.
    private final class Mutexed<Value: Sendable>: Sendable {
        let value: Mutex<Value>

        init(_ value: Value) { self.value = Mutex(value) }
    }

    private let code: InvitationCode

    init() throws {
        code = try InvitationCode("7K3M-QX0T-94WD-BZES")
    }

    /// Lets a newcomer meet a host that gives terms for a role, and hears what follows.
    ///
    /// - Returns: how joining ended, what the newcomer has said, and what it has shown.
    private func meet(
        _ device: Device, role: FleetRole, _ goOn: @escaping @Sendable (EnrolmentConnection) async -> Void = { _ in }
    ) async throws -> (end: Joiner.Progress?, said: [EnrolmentMessage], shown: FleetCertificate?) {
        let said = Mutexed<[EnrolmentMessage]>([])
        let host = try EnrolmentTests.Host { connection in
            while let message = await connection.next(within: .seconds(5)) {
                said.value.withLock { $0.append(message) }
                switch message {
                case .ask:
                    connection.send(
                        .terms(root: CrewMember.fleet.root.certificate.bytes, role: role.rawValue, name: "anna"))
                default: await goOn(connection)
                }
            }
        }
        var end: Joiner.Progress?
        try await withTransport(RecordingHandler(), security: host, enrolment: host) { _, port in
            let joiner = Joiner(
                device, addresses: { [PeerAddress(host: "127.0.0.1", port: port)] }, hostName: "tom",
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            await joiner.join(by: code)
            for await step in joiner.steps {
                if case .failed = step { end = step }
                if case .joined = step { end = step }
                if end != nil { break }
            }
        }
        let shown = try host.applicants.first?.first.map { try FleetCertificate($0) }
        return (end, said.value.withLock { $0 }, shown)
    }

    @Test(
        "Who is asked to become what it is not says so, and proves nothing",
        arguments: [
            (true, FleetRole.reader), (true, .member), (true, .lead), (true, .office), (true, .proxy),
            (false, .server), (false, .proxy),
        ])
    func otherKind(isServer: Bool, role: FleetRole) async throws {
        let device = Device(isServer: isServer)
        let (end, said, shown) = try await meet(device, role: role)
        guard case .failed(let failure)? = end else { return #expect(Bool(false), "it has joined") }
        #expect(failure.isForGood && failure.sentence.contains(isServer ? "this is a server" : "this is a laptop"))
        #expect(said == [.ask(invitation: code.name, name: "tom")], "no proof")
        #expect(shown?.kind == .newcomer && shown?.key == device.key.publicKey)
        #expect(shown?.role == (isServer ? .server : .reader), "what it is it shows before anything is said")
        #expect(device.installed.value.withLock { $0 } == [])
    }

    @Test("Nor does one that does not want into this fleet", arguments: [true, false])
    func objection(isServer: Bool) async throws {
        let device = Device(isServer: isServer, refuses: true)
        let (end, said, _) = try await meet(device, role: isServer ? .server : .member)
        guard case .failed(let failure)? = end else { return #expect(Bool(false), "it has joined") }
        #expect(failure.isForGood && failure.sentence == "Not \(CrewMember.fleet.trust.short).")
        #expect(said == [.ask(invitation: code.name, name: "tom")])
    }

    @Test("What the inviter says no with is said in a sentence, whatever it is", arguments: [true, false])
    func refusals(isServer: Bool) async throws {
        for (refusal, words) in [
            (EnrolmentRefusal.wrongCode(triesLeft: 1), "one try is left"), (.expired, "ten minutes"),
            (.triesUsedUp, "Three wrong codes"), (.used, "used already"), (.withdrawn, "taken the invitation back"),
            (.otherKind, isServer ? "--role server" : "this is a laptop"), (.unknown, "another version"),
            (.revoked, isServer ? "new database" : "muster fleet leave"),
        ] {
            let device = Device(isServer: isServer)
            let (end, said, _) = try await meet(device, role: isServer ? .server : .member) {
                $0.end(with: .refusal(refusal))
            }
            guard case .failed(let failure)? = end else { return #expect(Bool(false), "it has joined") }
            #expect(
                failure.sentence.contains(words) && failure.isForGood == [.otherKind, .revoked].contains(refusal),
                "\(failure)")
            #expect(said.count == 2, "it has proved what it knows: \(said)")
        }
    }
}
