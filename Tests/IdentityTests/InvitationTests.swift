import CRDT
import Testing

@testable import Identity

@Suite("Invitations", .timeLimit(.minutes(2)))
struct InvitationTests {
    private let lea = DeviceKey().publicKey
    private let tom = DeviceKey().publicKey
    private let stranger = DeviceKey().publicKey
    private let fleet = DeviceKey().publicKey
    private let code: InvitationCode

    init() {
        var generator = SeededGenerator(seed: 1)
        code = InvitationCode(using: &generator)
    }

    private func invitation(now: UInt64 = 0) throws -> Invitation {
        try Invitation(code, by: lea, to: fleet, as: .member, now: now)
    }

    private func terms(_ newcomer: DevicePublicKey, role: FleetRole = .member) -> JoinTerms {
        JoinTerms(inviter: lea, newcomer: newcomer, fleet: fleet, role: role)
    }

    private let nonsense = [UInt8](repeating: 1, count: 32)

    @Test("Who knows the code joins, and sees that the inviter knows it too")
    func bothProve() throws {
        var invitation = try invitation()
        let key = try JoinKey(InvitationCode(code.description.lowercased()))
        let answer = invitation.onAttempt(
            naming: code.name, by: tom, proof: key.proof(of: .newcomer, for: terms(tom)), now: 599_999)
        guard case .proved(let proof) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(key.isProof(proof, of: .inviter, for: terms(tom)))
        #expect(invitation.provedNewcomer == tom)
    }

    @Test("A proof is for one side, two keys, one fleet and one role")
    func boundToTerms() throws {
        let key = try JoinKey(code)
        let other = DeviceKey().publicKey
        let proof = key.proof(of: .newcomer, for: terms(tom))
        #expect(key.isProof(proof, of: .newcomer, for: terms(tom)))
        for (side, wrong) in [
            (JoinSide.inviter, terms(tom)), (.newcomer, terms(stranger)), (.newcomer, terms(tom, role: .office)),
            (.newcomer, JoinTerms(inviter: other, newcomer: tom, fleet: fleet, role: .member)),
            (.newcomer, JoinTerms(inviter: lea, newcomer: tom, fleet: other, role: .member)),
        ] {
            #expect(!key.isProof(proof, of: side, for: wrong))
        }
        // Who stands between two that know the code has other keys towards each of them.
        var invitation = try invitation()
        let relayed = invitation.onAttempt(naming: code.name, by: stranger, proof: proof, now: 0)
        #expect(relayed == .wrongCode(triesLeft: 2))
        for cut in [0, 16, 31] { #expect(!key.isProof(Array(proof[..<cut]), of: .newcomer, for: terms(tom))) }
    }

    @Test("A flood of guesses burns nothing and costs little")
    func flood() throws {
        var invitation = try invitation()
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<1_000 {
            let guess = InvitationCode(using: &generator)
            #expect(guess.name != code.name, "by the seed")
            #expect(invitation.onAttempt(naming: guess.name, by: stranger, proof: nonsense, now: 1) == .notThis)
        }
        let proof = try JoinKey(code).proof(of: .newcomer, for: terms(tom))
        guard case .proved = invitation.onAttempt(naming: code.name, by: tom, proof: proof, now: 2) else {
            Issue.record("the honest one does not join")
            return
        }
    }

    @Test("Three wrong codes make it void, also for the right one")
    func threeTries() throws {
        var invitation = try invitation()
        let proof = try JoinKey(code).proof(of: .newcomer, for: terms(tom))
        let answers = (0..<4).map { _ in
            invitation.onAttempt(naming: code.name, by: tom, proof: nonsense, now: 1)
        }
        #expect(
            answers
                == [.wrongCode(triesLeft: 2), .wrongCode(triesLeft: 1), .void(.triesUsedUp), .void(.triesUsedUp)])
        #expect(invitation.onAttempt(naming: code.name, by: tom, proof: proof, now: 1) == .void(.triesUsedUp))
        #expect(invitation.ended(by: 1) == .triesUsedUp)
    }

    @Test("It is good for ten minutes, to the millisecond, also for who comes back")
    func expires() throws {
        var invitation = try invitation(now: 5_000)
        let proof = try JoinKey(code).proof(of: .newcomer, for: terms(tom))
        #expect(invitation.ended(by: 604_999) == nil)
        let first = invitation.onAttempt(naming: code.name, by: tom, proof: proof, now: 604_999)
        guard case .proved = first else {
            Issue.record("\(first)")
            return
        }
        #expect(invitation.onAttempt(naming: code.name, by: tom, proof: proof, now: 605_000) == .void(.expired))
        #expect(invitation.provedNewcomer == nil)
    }

    @Test("It is good for one laptop, which may ask again when the answer did not come")
    func singleUse() throws {
        var invitation = try invitation()
        let key = try JoinKey(code)
        let proof = key.proof(of: .newcomer, for: terms(tom))
        let first = invitation.onAttempt(naming: code.name, by: tom, proof: proof, now: 0)
        #expect(invitation.onAttempt(naming: code.name, by: tom, proof: proof, now: 1) == first)
        let second = key.proof(of: .newcomer, for: terms(stranger))
        #expect(invitation.onAttempt(naming: code.name, by: stranger, proof: second, now: 1) == .void(.used))
        #expect(invitation.onAttempt(naming: code.name, by: tom, proof: nonsense, now: 1) == .void(.used))
        invitation.end(.used)
        #expect(invitation.onAttempt(naming: code.name, by: tom, proof: proof, now: 2) == .void(.used))
    }

    @Test("What the inviter takes back is void, and stays void for that reason")
    func withdrawn() throws {
        var invitation = try invitation()
        let proof = try JoinKey(code).proof(of: .newcomer, for: terms(tom))
        invitation.end(.withdrawn)
        #expect(invitation.onAttempt(naming: code.name, by: tom, proof: proof, now: 1) == .void(.withdrawn))
        #expect(invitation.ended(by: 700_000) == .withdrawn)
    }

    /// Made with Python's hashlib.scrypt and hmac from the text of docs/identity.md, by hand.
    @Test("Another program that goes by the document makes the same proof")
    func knownProof() throws {
        let secret = [UInt8](repeating: 9, count: 32)
        let key = try #require(DeviceKey(secret: secret)).publicKey
        let terms = JoinTerms(inviter: key, newcomer: key, fleet: key, role: .lead)
        let proof = try JoinKey(InvitationCode("7K3M-QX0T-94WD-BZES")).proof(of: .newcomer, for: terms)
        #expect(proof.hexadecimalDigits == "f42ac16ee9313b424bbbb18203d2aa2145f0cde7feb19130c49efdb1f3746ef5")
    }
}
