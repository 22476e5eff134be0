import Authorship
import CRDT
import Identity
import Simulation
import Testing

/// Against what Python (hashlib, cryptography) made of the rules as docs/outbox.md states them.
@Suite("Who has asked for something")
struct RequestSigningTests {
    /// Of the secret 00 01 02 … 1f.
    private let signer: TestSigner
    private let job: JobID
    private let request: MutationRequest

    init() throws {
        signer = TestSigner(key: try #require(DeviceKey(secret: Array(0..<32))))
        job = try #require(JobID("job"))
        let asked = MutationRequest(
            token: MutationToken(ofKey: signer.publicKey, chance: 0x0102_0304_0506), lane: "state",
            after: MutationToken(6), priority: 200, kind: "advanceState",
            payload: Array(#"{"state":"completed"}"#.utf8))
        request = signer.sign(asked, for: job, nonce: 0x0102)
    }

    @Test("A token follows from the key and from chance, a signature from all that is asked for")
    func vectors() throws {
        #expect(request.token.description == "010203040506122a68f55952c8d6188e")
        #expect(
            request.signature.value.hexadecimalDigits
                == "bf8da1cd0b3b433a571e0834d93c2516f0633794723a75499675b9f43c6bc766"
                + "0de2c0450c766da7549b341f4b13756d8bedefe29c9cd77b7aeb8fdb2b4ca403")
        #expect(request.authorName?.description == "6bbf808cd6ca58700c6dc07672e37550")
        #expect(request.isSigned(for: job))
        let change = Change(item: .job, stamp: .zero, operations: [.request(request)])
        #expect(try ChangeCodec.decodeAll(ChangeCodec.encode(change)) == [change])
    }

    @Test("Of the chance 48 bits count, and a token is one key's")
    func tokens() {
        let key = signer.publicKey
        #expect(MutationToken(ofKey: key, chance: .max) == MutationToken(ofKey: key, chance: 1 << 48 - 1))
        #expect(request.token.isOf(key: key) && !request.token.isOf(key: TestSigner(1).publicKey))
        for bit in 0..<128 {
            let other = MutationToken(request.token.value ^ 1 << UInt128(bit))
            #expect(other.isOf(key: key) == (bit >= 80))
        }
    }

    private func altered(
        token: MutationToken? = nil, lane: String = "state", after: MutationToken? = MutationToken(6),
        priority: UInt8 = 200, kind: String = "advanceState", payload: String = #"{"state":"completed"}"#,
        key: [UInt8]? = nil, nonce: UInt128 = 0x0102
    ) throws -> MutationRequest {
        let signature = RequestSignature(
            key: key ?? signer.publicKey, nonce: nonce, value: request.signature.value)
        return MutationRequest(
            token: token ?? request.token, lane: lane, after: after, priority: priority, kind: kind,
            payload: Array(payload.utf8), signature: try #require(signature))
    }

    @Test("Nothing of it can be changed, and nobody else can ask under the token")
    func alterations() throws {
        #expect(try altered() == request)
        let other = TestSigner(1)
        let alterations = [
            try altered(token: MutationToken(ofKey: signer.publicKey, chance: 7)), try altered(lane: "stat"),
            try altered(after: MutationToken(7)), try altered(after: nil), try altered(priority: 201),
            try altered(kind: "advanceStat"), try altered(payload: #"{"state":"cancelled"}"#),
            // One byte moves from the kind to the payload.
            try altered(kind: "advanceStat", payload: #"e{"state":"completed"}"#),
            try altered(key: other.publicKey), try altered(nonce: 0x0103),
            // Signed by another, under this one's token, with either key.
            other.sign(request, for: job, nonce: 0x0102),
            MutationRequest(
                token: request.token, lane: "state", after: nil, priority: 0, kind: "advanceState", payload: []),
        ]
        for alteration in alterations { #expect(!alteration.isSigned(for: job), "\(alteration)") }
        #expect(!request.isSigned(for: try #require(JobID("jo"))))
        for index in request.signature.value.indices {
            var flipped = request
            flipped.signature.value[index] ^= 1
            #expect(!flipped.isSigned(for: job))
        }
    }

    @Test("It counts in its author's journal, and where it is written again in that one's name")
    func places() throws {
        let author = try #require(request.authorName)
        func forged(in journal: ReplicaID, origin: ReplicaID? = nil, as asked: MutationRequest? = nil) -> Int {
            let operations: [Operation] = [.request(asked ?? request), .withdraw(request.token)]
            let change = Change(item: .job, stamp: .zero, origin: origin, operations: operations)
            let forged = change.forgedRequests(for: job, in: journal)
            #expect(change.leavingOut(forged).operations.count == 2 - forged.count)
            return forged.count
        }
        #expect(forged(in: author) == 0)
        #expect(forged(in: ReplicaID(5), origin: author) == 0)
        #expect(forged(in: .channel, origin: author) == 0)
        #expect(forged(in: ReplicaID(5)) == 1, "a member's own name is not the author's")
        #expect(forged(in: author, origin: ReplicaID(5)) == 1)
        // Somebody's own words in another's name.
        let liar = TestAuthor(7).asks(request, for: job)
        #expect(forged(in: ReplicaID(5), origin: author, as: liar) == 1)
        #expect(forged(in: TestAuthor(7).replica, as: liar) == 0)
    }
}
