import CRDT
import Enrolment
import Identity
import LocalAPI
import Replication
import Testing
import Transport

@testable import Node

/// An invitation that nobody answers ends by itself, and both sides say why.
@Suite("The end of an invitation", .timeLimit(.minutes(1)))
struct InvitationEndTests {
    private static let expired = Invitation.End.expired.sentence
    /// So much less than ten minutes that no slow machine lets it pass by itself.
    private static let margin: UInt64 = 120_000

    private func join(by code: String, at address: PeerAddress) async throws -> (Joiner, TestNewcomer) {
        let device = TestNewcomer(isServer: false)
        let joiner = Joiner(device, addresses: { [address] }, hostName: "tom", logger: silent)
        await joiner.join(by: try InvitationCode(code))
        return (joiner, device)
    }

    @Test("Whoever waits for a yes is told after ten minutes that they are over, and so is the inviter")
    func expires() async throws {
        let machine = SkippingMachine()
        try await withInviter(on: machine) { inviter, _, address in
            let opened = try await inviter.openInvitation(InvitationRequest(role: "member"))
            try await machine.hasSleepers(2)
            let code = try #require(opened.code)
            let (joiner, device) = try await join(by: code, at: address)
            var steps: [Joiner.Progress] = []
            for await step in joiner.steps {
                steps.append(step)
                if case .waiting = step {
                    machine.skip(milliseconds: Invitation.lifetime - Self.margin)
                    #expect(try await inviter.invitation(opened.name).state == .waiting)
                    machine.skip(milliseconds: Self.margin)
                }
                if case .failed(let failure) = step {
                    #expect(failure.sentence == Self.expired)
                    break
                }
            }
            #expect(steps.contains(.waiting(inviter: "anna")) && steps.count == 4, "\(steps)")
            #expect(device.papers == [])
            let ended = try await inviter.invitation(opened.name)
            #expect(ended.state == .ended && ended.reason == Self.expired)
            // Whose person says yes too late hears the same.
            let late = AdmissionRequest(deviceID: device.key.publicKey.device.description)
            let refusal = await #expect(throws: APIError.self) { try await inviter.admit(late, to: opened.name) }
            #expect(refusal?.message == Self.expired)
            // And so does whoever comes with the code afterwards.
            let (second, other) = try await join(by: code, at: address)
            for await step in second.steps {
                guard case .failed(let failure) = step else { continue }
                #expect(failure.sentence == Self.expired && other.papers == [])
                break
            }
        }
    }

    @Test("Nobody has come: it ends all the same, and is forgotten after as long again")
    func unused() async throws {
        let machine = SkippingMachine()
        try await withInviter(on: machine) { inviter, identity, _ in
            let opened = try await inviter.openInvitation(InvitationRequest(role: "member"))
            // One for its end, and one that forgets it.
            try await machine.hasSleepers(2)
            machine.skip(milliseconds: Invitation.lifetime - Self.margin)
            #expect(try await inviter.invitation(opened.name).state == .unused)
            machine.skip(milliseconds: Self.margin)
            let ended = try await inviter.invitation(opened.name)
            #expect(ended.state == .ended && ended.reason == Self.expired)
            #expect(identity.isInviting, "who comes too late is told why")
            machine.skip(milliseconds: Invitation.lifetime)
            while identity.isInviting { try await Task.sleep(for: .milliseconds(5)) }
            await #expect(throws: APIError.self) { try await inviter.invitation(opened.name) }
        }
    }
}
