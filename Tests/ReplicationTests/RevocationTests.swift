import CRDT
import Replication
import Testing

@Suite("Revocations come before everything")
struct RevocationTests {
    private let bert = DeviceID(high: 1, low: 2)
    private let cleo = DeviceID(high: 1, low: 3)
    private let dora = DeviceID(high: 1, low: 4)
    private let first = LinkID(number: 1)
    private let second = LinkID(number: 2)
    private let third = LinkID(number: 3)
    private let own = DeviceID(high: 0, low: 1)

    private func mesh(knowing fingerprint: UInt64 = 0) -> Mesh {
        Mesh(
            device: own, replica: ReplicaID(1), instance: 1, name: "anna", jobs: [], revocations: fingerprint)
    }

    private func hello(_ device: DeviceID, _ fingerprint: UInt64) -> Message {
        .hello(
            Hello(
                minimumVersion: ProtocolLimits.minimumVersion, maximumVersion: ProtocolLimits.version, device: device,
                instance: 2,
                name: "bert", revocations: fingerprint))
    }

    @Test("Both say in the hello what they know; who knows something else is told before the ping")
    func toldFirst() {
        for (known, there) in [(7, 0), (7, 9), (0, 9)] as [(UInt64, UInt64)] {
            var mesh = mesh(knowing: known)
            guard
                case .send(.hello(let said), on: first)? = mesh.onLinkOpened(
                    first, with: JobAccess(bert), isDialled: true, now: 0
                ).first
            else {
                Issue.record("no hello")
                return
            }
            #expect(said.revocations == known)
            let directives = mesh.onMessage(hello(bert, there), on: first, now: 0)
            #expect(directives == [.tellRevocations(to: first), .send(.ping(0), on: first)])
        }
    }

    @Test("Who knows the same is told nothing")
    func notTold() {
        var mesh = mesh(knowing: 7)
        _ = mesh.onLinkOpened(first, with: JobAccess(bert), isDialled: true, now: 0)
        #expect(mesh.onMessage(hello(bert, 7), on: first, now: 0) == [.send(.ping(0), on: first)])
    }

    @Test("They are taken from the hello on, and not before")
    func takenEarly() {
        var mesh = mesh()
        _ = mesh.onLinkOpened(first, with: JobAccess(bert), isDialled: true, now: 0)
        #expect(
            mesh.onMessage(.revocations([[1]]), on: first, now: 0)
                == [.close(first, reason: "A message before the hello.")])
        _ = mesh.onMessage(hello(bert, 9), on: first, now: 0)
        #expect(mesh.onMessage(.revocations([[1]]), on: first, now: 0) == [.learnRevocations([[1]], from: first)])
        mesh.meet(cleo, on: second)
        #expect(mesh.onMessage(.revocations([[2]]), on: second, now: 0) == [.learnRevocations([[2]], from: second)])
    }

    @Test("News goes to everybody but who brought it, and links with who is named are closed, whatever their phase")
    func passedOn() {
        var mesh = mesh()
        mesh.meet(bert, on: first)
        mesh.meet(cleo, on: second)
        _ = mesh.onLinkOpened(third, with: JobAccess(dora), isDialled: false, now: 0)
        mesh.revocations = 5
        let directives = mesh.onRevoked([[1], [2]], of: [bert, dora], from: second)
        #expect(
            directives == [
                .send(.revocations([[1], [2]]), on: first), .close(first, reason: "The peer's laptop was revoked."),
                .close(third, reason: "The peer's laptop was revoked."),
            ])
        guard
            case .send(.hello(let said), _)? = mesh.onLinkOpened(
                LinkID(number: 4), with: JobAccess(cleo), isDialled: true, now: 0
            ).first
        else {
            Issue.record("no hello")
            return
        }
        #expect(said.revocations == 5, "the next peer is told what is known now")
    }

    @Test("Who was revoked itself closes everything")
    func ownEnd() {
        var mesh = mesh()
        mesh.meet(bert, on: first)
        mesh.meet(cleo, on: second)
        let directives = mesh.onRevoked([[1]], of: [own], from: nil)
        #expect(directives.count == 4)
        #expect(
            directives.suffix(2) == [
                .close(first, reason: "This laptop was revoked."), .close(second, reason: "This laptop was revoked."),
            ])
    }

    @Test("A long log takes several messages")
    func chunks() {
        let entries = (0..<130).map { [UInt8($0)] }
        let messages = Message.revocations(of: entries)
        #expect(messages.map { if case .revocations(let some) = $0 { some.count } else { 0 } } == [64, 64, 2])
        #expect(Message.revocations(of: []).isEmpty)
    }
}
