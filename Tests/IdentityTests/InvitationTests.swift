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
        #expect(invitation.provedNewcomer(by: 599_999) == tom)
        #expect(invitation.provedNewcomer(by: 600_000) == nil, "the inviter says yes too late")
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

    @Test("A thousand guesses burn nothing")
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
        #expect(invitation.provedNewcomer(by: 605_000) == nil)
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
        let keys = try [7, 8, 9].map { try #require(DeviceKey(secret: [UInt8](repeating: $0, count: 32))).publicKey }
        let terms = JoinTerms(inviter: keys[0], newcomer: keys[1], fleet: keys[2], role: .lead)
        let key = try JoinKey(InvitationCode("7K3M-QX0T-94WD-BZES"))
        #expect(
            key.proof(of: .newcomer, for: terms).hexadecimalDigits
                == "c335e63e89f4dbd60f526e4e883484f4f88861b6aac2cf5af33b7b26257d06b8")
        #expect(
            key.proof(of: .inviter, for: terms).hexadecimalDigits
                == "d8ee45f45ffe2e39cd83659899292ade50f9a842d1d91498c42cbec271591335")
    }
}
