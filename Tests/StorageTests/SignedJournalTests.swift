import Authorship
import CRDT
import GRDB
import Inventory
import Simulation
@testable import Storage
import Testing

@Suite("Journals are taken only as their authors signed them")
struct SignedJournalTests {
    /// What anna has written: three changes.
    private func written(_ place: Place) async throws -> (anna: Store, run: JournalSegment) {
        let anna = try await place.open("anna")
        for item in 1...3 as ClosedRange<UInt128> { try await anna.put(item, "name", "thing \(item)") }
        let run = try await anna.segment(
            of: anna.identity.replica, job: Store.job, from: 1, maximumBytes: .max)
        return (anna, try #require(run))
    }

    private func isForged(_ result: IngestResult) -> Bool {
        if case .forged = result { true } else { false }
    }

    enum Forgery: CaseIterable {
        case signature, noSignature, digest, byte, omission, otherKey, noAuthor, otherName
    }

    @Test("Whatever a relay changes is refused, and nothing is changed by it", arguments: Forgery.allCases)
    func forged(_ forgery: Forgery) async throws {
        let place = try Place()
        let (anna, run) = try await written(place)
        let bert = try await place.open("bert")
        let mallory = TestAuthor(66)
        var (bytes, head, signature, author) = (run.bytes, run.head, run.signature, run.author)
        var replica = run.replica
        switch forgery {
        case .signature: signature = JournalSignature((signature?.bytes ?? []).reversed())
        case .noSignature: signature = nil
        case .digest: head = JournalHead(sequence: head.sequence, digest: 1)
        case .byte: bytes[bytes.count - 1] ^= 1
        case .omission:
            let records = try ChangeCodec.decodeAll(bytes).map(ChangeCodec.encode)
            bytes = (records.prefix(1) + records.dropFirst(2)).flatMap { $0 }
            head = JournalHead(sequence: head.sequence - 1, digest: head.digest)
        case .otherKey:
            // Signed well, but the name is not this key's.
            signature = TestSigner(66).sign(run.head, of: run.replica, job: Store.job)
            author = mallory.author
        case .noAuthor: author = nil
        case .otherName: replica = mallory.replica
        }
        let lie = JournalSegment(
            replica: replica, first: 1, head: head, bytes: bytes, signature: signature, author: author)
        let result = try await bert.ingest(lie, job: Store.job, now: .anyTime).result
        // What was signed says where the bytes must lead.
        #expect(forgery == .byte ? result == .forked(.empty) : isForged(result), "\(result)")
        #expect(try await bert.vectors().isEmpty)
        #expect(try await bert.ingest(run, job: Store.job, now: .anyTime).result == .stored)
        #expect(try await bert.exported() == anna.exported())
    }

    @Test("An author is told once, and is remembered when the store is opened again")
    func toldOnce() async throws {
        let place = try Place()
        let (anna, run) = try await written(place)
        var bert = try await place.open("bert")
        #expect(try await bert.ingest(run, job: Store.job, now: .anyTime).result == .stored)
        try bert.close()
        bert = try await place.open("bert")
        var next = try await anna.put(4, "name", "Lamp").segment
        next.author = nil
        let ingested = try await bert.ingest(next, job: Store.job, now: .anyTime)
        #expect(ingested.result == .stored && ingested.news?.author == run.author)
        // Who relays it can tell of it.
        let passedOn = try await bert.segment(of: run.replica, job: Store.job, from: 1, maximumBytes: .max)
        #expect(passedOn?.author == run.author)
        let carl = try await place.open("carl")
        #expect(try await carl.ingest(#require(passedOn), job: Store.job, now: .anyTime).result == .stored)
    }

    @Test("What nobody has signed is told as that, whatever else is wrong with it")
    func unsignedAndMalformed() async throws {
        let place = try Place()
        let (_, run) = try await written(place)
        for isKnown in [false, true] {
            let bert = try await place.open(isKnown ? "bert" : "carl")
            if isKnown { _ = try await bert.ingest(run, job: Store.job, now: .anyTime) }
            let before = try await bert.vectors().map(\.vector)
            let head = JournalHead(sequence: run.head.sequence + 1, digest: 1)
            let cut = JournalSegment(
                replica: run.replica, first: 1, head: head, bytes: run.bytes + [0xFF], signature: run.signature,
                author: run.author)
            #expect(isForged(try await bert.ingest(cut, job: Store.job, now: .anyTime).result))
            let signed = try place.sign(cut, upTo: head)
            await #expect(throws: CodecError.self) { try await bert.ingest(signed, job: Store.job, now: .anyTime) }
            #expect(try await bert.vectors().map(\.vector) == before)
        }
    }

    @Test("Whether a run is signed is worked out for the author in question")
    func verdicts() throws {
        let (author, other) = (TestAuthor(7), TestAuthor(8))
        let segment = try author.run(["a"])
        for authors in [[author, other, author], [other, author, other]] {
            let run = IncomingRun(job: Store.job, segment: segment)
            #expect(authors.map { run.isSigned(by: $0.author) } == authors.map { $0.replica == author.replica })
        }
        var unsigned = segment
        unsigned.signature = nil
        #expect(!IncomingRun(job: Store.job, segment: unsigned).isSigned(by: author.author))
    }

    @Test("A fork, or a later part of the own journal, counts only when it is signed")
    func unsignedProof() async throws {
        let place = try Place()
        let (anna, run) = try await written(place)
        let bert = try await place.open("bert")
        _ = try await bert.ingest(run, job: Store.job, now: .anyTime)
        let other = JournalHead(sequence: run.head.sequence, digest: 1)
        let later = JournalHead(sequence: run.head.sequence + 1, digest: 1)
        for (store, head) in [(bert, other), (anna, later)] {
            let claim = JournalSegment(
                replica: run.replica, first: run.head.sequence, head: head, bytes: run.bytes, signature: run.signature,
                author: run.author)
            #expect(isForged(try await store.ingest(claim, job: Store.job, now: .anyTime).result))
            #expect(try await !anna.hasSigned(claim, of: Store.job))
        }
        let forked = try place.sign(run, upTo: other)
        #expect(try await bert.ingest(forked, job: Store.job, now: .anyTime).result == .forked(run.head))
        let future = try place.sign(run, upTo: later)
        #expect(
            try await anna.ingest(future, job: Store.job, now: .anyTime).result == .ownFuture(of: run.replica))
        #expect(try await anna.hasSigned(future, of: Store.job))
    }

    @Test("Who has joined a fleet since is known so, also by a run that brings nothing else, and after a failure")
    func joinedSince() async throws {
        let place = try Place()
        let (bare, certified) = (TestAuthor(7), TestAuthor(7, certificates: [[1], [2]]))
        var bert = try await place.open("bert")
        let bareRun = try bare.run(["a"])
        _ = try await bert.ingest(bareRun, job: Store.job, now: .anyTime)
        // One that is refused leaves nothing in memory, either.
        let forged = JournalSegment(
            replica: bare.replica, first: 2, head: JournalHead(sequence: 2, digest: 1), bytes: bareRun.bytes,
            signature: bareRun.signature, author: certified.author)
        #expect(isForged(try await bert.ingest(forged, job: Store.job, now: .anyTime).result))
        #expect(try await bert.authors(named: [bare.replica])[bare.replica] == bare.author)
        let again = try certified.run(["a"])
        #expect(try await bert.ingest(again, job: Store.job, now: .anyTime).result == .duplicate(bareRun.head))
        for _ in 1...2 {
            #expect(try await bert.authors(named: [bare.replica])[bare.replica] == certified.author)
            try bert.close()
            bert = try await place.open("bert")
        }
        // Who says that it is in none any more changes nothing.
        _ = try await bert.ingest(bare.run(["a", "b"]), job: Store.job, now: .anyTime)
        #expect(try await bert.authors(named: [bare.replica])[bare.replica] == certified.author)
    }

    @Test("What outlives its job in a row of which the rest goes is still signed")
    func outlivesItsJob() async throws {
        let place = try Place()
        let author = TestAuthor(7)
        let (anna, bert) = (try await place.open("anna"), try await place.open("bert"))
        let whole = try author.run(["a", "b", "c", "d"])
        _ = try await anna.ingest(author.run(["a", "b"]), job: Store.job, now: .anyTime)
        _ = try await bert.ingest(whole, job: Store.job, now: .anyTime)
        let removal = try await anna.removeJob(Store.job, now: .known(5_000)).outcome.removal
        _ = try await bert.takeRemoval(removal, of: Store.job, now: .known(6_000), using: &place.generator)
        let rest = try #require(
            try await bert.segment(of: author.replica, job: Store.job, from: 3, maximumBytes: .max))
        #expect(rest.first == 3 && rest.head == whole.head)
        #expect(try await anna.ingest(rest, job: Store.job, now: .known(7_000)).result == .stored)
    }

    @Test("A run that is longer than any that could be passed on is not taken")
    func tooLong() async throws {
        let place = try Place()
        let bert = try await place.open("bert")
        let long = try TestAuthor(7).run((0..<99).map { "\($0) " + String(repeating: "x", count: 10_000) })
        try #require(long.bytes.count > JournalSegment.longestBytes)
        let result = try await bert.ingest(long, job: Store.job, now: .anyTime).result
        guard case .malformed = result else {
            Issue.record("\(result)")
            return
        }
        #expect(try await bert.vectors().isEmpty)
    }

    @Test("What a laptop wrote as a member is a member's, also when its own certificates are not at hand")
    func certificatesStay() async throws {
        let place = try Place()
        let anna = try await place.open("anna")
        try await anna.takeUp(TestSigner(9, certificates: [[1], [2]]), using: &place.generator)
        try await anna.takeUp(TestSigner(9), using: &place.generator)
        #expect(try await anna.put(1, "name", "Sofa").segment.author?.certificates == [[1], [2]])
    }

    @Test("A commit that fills several rows is signed at the end of each")
    func longCommit() async throws {
        let place = try Place()
        let (anna, bert) = (try await place.open("anna"), try await place.open("bert"))
        let text = String(repeating: "x", count: 2_000)
        _ = try await anna.edit(
            job: Store.job, createsJob: true, nowMilliseconds: 1_000,
            (1...500).map { number in
                .put(item: ItemID(UInt128(number)), fields: [Edit.FieldValue(field: "name", value: text)])
            })
        let runs = try await anna.runs(
            of: anna.identity.replica, job: Store.job, from: 1, sufficientBytes: 1 << 30)
        #expect(runs.count > 4)
        for run in runs { #expect(try await bert.ingest(run, job: Store.job, now: .anyTime).result == .stored) }
        #expect(try await bert.exported() == anna.exported())
    }

    @Test("What is stamped anew is signed anew")
    func restamped() async throws {
        let place = try Place()
        let (anna, bert) = (try await place.open("anna"), try await place.open("bert"))
        for item in 1...3 as ClosedRange<UInt128> {
            _ = try await anna.edit(
                job: Store.job, createsJob: true, nowMilliseconds: 1_000, isSynchronised: false,
                [.put(item: ItemID(item), fields: [Edit.FieldValue(field: "name", value: "thing")])])
        }
        let now = ReceiveTime(milliseconds: 50_000, isSynchronised: true)
        let restamped = try await anna.restamp { TakenStep(ClockStep(milliseconds: 40_000, now: now)) }
        #expect(restamped.count == 1)
        #expect(try await anna.send(to: bert) == [.stored])
        #expect(try await bert.exported() == anna.exported())
    }

    @Test("Under another key a store writes under another name, and its former work keeps its certificates")
    func anotherKey() async throws {
        let place = try Place()
        let (anna, run) = try await written(place)
        let certified = TestSigner(9, certificates: [[1, 2], [3]])
        try await anna.takeUp(certified, using: &place.generator)
        let identity = anna.identity
        #expect(identity.replica != run.replica && identity.device == certified.device)
        let own = try await anna.put(7, "name", "Lamp").segment
        #expect(own.author?.certificates == [[1, 2], [3]] && own.author?.key == certified.publicKey)
        try await anna.takeUp(certified, using: &place.generator)
        #expect(anna.identity == identity, "the same key, the same name")
        try await anna.renewDevice(to: TestSigner(10), using: &place.generator)
        #expect(anna.identity.device == TestSigner(10).device)
        let former = try await anna.segment(of: identity.replica, job: Store.job, from: 1, maximumBytes: .max)
        #expect(former?.author?.certificates == [[1, 2], [3]])
        let bert = try await place.open("bert")
        #expect(try await anna.send(to: bert).allSatisfy { $0 == .stored })
    }

    @Test("Without a key nothing is written")
    func noKey() async throws {
        let place = try Place()
        let store = try Store.open(
            path: place.path("keyless"), machine: "laptop", hostName: "anna", upgrade: StoreUpgrade(program: "1.0.0"),
            generator: &place.generator)
        let error = await #expect(throws: StoreError.self) { try await store.put(1, "name", "Sofa") }
        #expect(error?.description.contains("no key") ?? false)
        #expect(try await store.vectors().isEmpty)
    }
}
