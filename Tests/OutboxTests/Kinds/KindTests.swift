import CRDT
import Inventory
import Outbox
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("Kinds of mutations")
struct KindTests {
    @Test("Every type that says that it is a kind stands in the list of all")
    func listed() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let sources = root.appending(path: "Sources/Outbox/Kinds")
        var declared: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(atPath: sources.path()) {
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            for match in text.matches(of: /struct\s+(\w+)\s*:[^{]*\bMutationKind\b/) {
                declared.insert(String(match.output.1))
            }
        }
        #expect(declared.count >= 3)
        #expect(declared == Set(MutationKinds.all.types.map { "\($0)" }))
    }

    @Test("Kinds have names of their own, and those of one lane agree on its order")
    func names() {
        let types = MutationKinds.all.types
        #expect(Set(types.map { $0.name }).count == types.count)
        for type in types {
            #expect(JobID(type.name) != nil && JobID(type.lane) != nil, "\(type)")
            for other in types where other.lane == type.lane { #expect(other.laneOrder == type.laneOrder) }
        }
    }

    @Test("A mutation that went through a journal is what it was, and a person can read it")
    func roundTrip() throws {
        for type in MutationKinds.all.types { try check(type) }
    }

    private func check<Kind: MutationKind>(_ kind: Kind.Type) throws {
        #expect(!Kind.examples.isEmpty)
        for example in Kind.examples {
            let request = example.request(token: MutationToken(7), after: MutationToken(6))
            #expect(request.after == (Kind.laneOrder == .firstInFirstOut ? MutationToken(6) : nil))
            #expect(request.payload.count <= 64 << 10)
            #expect(try MutationKinds.all.mutation(of: request) as? Kind == example)
            let sentence = MutationKinds.all.sentence(for: request)
            #expect(sentence == example.sentence && !sentence.isEmpty && sentence.last != ".")
            // What is shown until then is never more than what may come of it.
            if (try? example.effect(on: JobStanding())) == nil { #expect(example.overlay(on: JobStanding()) == []) }
        }
    }

    @Test(
        "A payload that says nothing sensible is refused with a sentence",
        arguments: [
            ("advanceState", "{}"), ("advanceState", #"{"state":"lost"}"#), ("advanceState", "[]"),
            ("openJob", #"{"name":"","kind":"pickup"}"#), ("openJob", #"{"name":"Smith","kind":"theft"}"#),
            ("signOff", #"{"name":"Smith"}"#), ("signOff", #"{"name":"Smith","digest":"0f"}"#), ("unheard", "{}"),
            ("signOff", #"{"name":"Smith","digest":"\#(String(repeating: "0f", count: 32))","vector":"anna:7"}"#),
        ])
    func nonsense(kind: String, payload: String) {
        let request = MutationRequest(
            token: MutationToken(1), lane: "state", after: nil, priority: 1, kind: kind, payload: Array(payload.utf8))
        let refusal = #expect(throws: MutationRefusal.self) { try MutationKinds.all.mutation(of: request) }
        #expect(refusal?.sentence.last == ".")
        #expect(!MutationKinds.all.sentence(for: request).isEmpty)
    }

    @Test("A day at the server: opened, advanced, signed, completed, and nothing after that")
    func day() throws {
        var job = JobStanding(digest: "beef")
        #expect(throws: MutationRefusal.self) { try AdvanceState(to: .dispatched).effect(on: job) }
        job.publish(try OpenJob(name: "Smith", kind: .pickup).effect(on: job))
        #expect(job.state == .scheduled && job[.jobName] == "Smith" && job[.jobKind] == "pickup")
        let sign = try #require(SignOff.examples.last)
        for state in [JobState.dispatched, .inProgress, .awaitingSignature] {
            #expect(throws: MutationRefusal.self) { try sign.effect(on: job) }
            job.publish(try AdvanceState(to: state).effect(on: job))
        }
        job.publish(try sign.effect(on: job))
        let signature = try #require(FlatJSON(parsing: Array((job[.signature] ?? "").utf8)))
        #expect(signature["name"] == "J. Smith" && signature["digest"] == sign.digest)
        #expect(signature["serverDigest"] == "beef" && signature["vector"] == sign.vector?.text)
        job.publish(try AdvanceState(to: .completed).effect(on: job))
        for state in JobState.allCases where state != .completed {
            #expect(throws: MutationRefusal.self) { try AdvanceState(to: state).effect(on: job) }
        }
    }

    @Test("Who has changed the inventory signs again: the newest signature counts, until the job is completed")
    func signedAgain() throws {
        var job = JobStanding(values: [.jobState: "awaitingSignature"])
        let first = try #require(SignOff.examples.last)
        let second = SignOff(digest: String(repeating: "2", count: 64), name: first.signer, vector: first.vector)
        for sign in [first, second, first] {
            let published = try sign.effect(on: job)
            #expect(sign.vector != nil && published == sign.overlay(on: job) && published.count == 1)
            job.publish(published)
            #expect(job[.signature] == sign.payload.text)
        }
        job.publish(try AdvanceState(to: .inProgress).effect(on: job))
        #expect(throws: MutationRefusal.self) { try second.effect(on: job) }
        job.publish(try AdvanceState(to: .awaitingSignature).effect(on: job))
        job.publish(try second.effect(on: job))
        job.publish(try AdvanceState(to: .completed).effect(on: job))
        #expect(throws: MutationRefusal.self) { try first.effect(on: job) }
    }

    @Test("A signature without its vector, or with a false one, does not stand in the way of one that has it")
    func vectorLess() throws {
        let sign = try #require(SignOff.examples.last)
        let other = SignedVector("\(String(repeating: "f", count: 32)):9")
        for vector in [nil, other] {
            var job = JobStanding(values: [.jobState: "awaitingSignature"], digest: "beef")
            job.publish(try SignOff(digest: sign.digest, name: sign.signer, vector: vector).effect(on: job))
            let published = try sign.effect(on: job)
            #expect(published.count == 1 && sign.overlay(on: job).count == 1)
            job.publish(published)
            #expect(try sign.effect(on: job).isEmpty)
            // An older version asks for what is so already.
            #expect(try SignOff(digest: sign.digest, name: sign.signer).effect(on: job).isEmpty)
        }
    }

    @Test("A signature that names as many journals as it can fits into a published value")
    func longestVector() throws {
        let entries = (1...SignedVector.longest).map {
            VersionVector.Entry(
                replica: ReplicaID(UInt128.max - UInt128($0)),
                head: JournalHead(sequence: ChangeLimits.sequence, digest: .empty))
        }
        let sign = SignOff(
            digest: String(repeating: "f", count: 64), name: String(repeating: "\u{1}", count: 1_024),
            vector: SignedVector(VersionVector(entries)))
        let published = try sign.effect(
            on: JobStanding(values: [.jobState: "awaitingSignature"], digest: sign.digest))
        #expect(published.allSatisfy { $0.value.utf8.count <= ChangeLimits.valueBytes })
        #expect(try SignOff(payload: #require(FlatJSON(parsing: sign.payload.bytes))) == sign)
    }

    @Test("What is so already is accepted, publishes nothing and shows nothing as pending")
    func alreadySo() throws {
        var job = JobStanding(digest: "beef")
        job.publish(try OpenJob(name: "Smith", kind: .pickup).effect(on: job))
        let sign = try #require(SignOff.examples.first)
        let open = OpenJob(name: "Smith", kind: .pickup)
        #expect(try open.effect(on: job) == [] && open.overlay(on: job) == [])
        for state in [JobState.dispatched, .inProgress, .awaitingSignature] {
            let advance = AdvanceState(to: state)
            job.publish(try advance.effect(on: job))
            #expect(try advance.effect(on: job) == [] && advance.overlay(on: job) == [])
        }
        job.publish(try sign.effect(on: job))
        job.digest = "f00d"
        #expect(try sign.effect(on: job) == [] && sign.overlay(on: job) == [])
        job.publish(try AdvanceState(to: .completed).effect(on: job))
        #expect(try AdvanceState(to: .completed).effect(on: job) == [])
        #expect(try sign.effect(on: job) == [] && sign.overlay(on: job) == [])
        for other in [
            SignOff(digest: sign.digest, name: "A. Smith"),
            SignOff(digest: String(repeating: "1", count: 64), name: sign.signer),
        ] {
            #expect(throws: MutationRefusal.self) { try other.effect(on: job) }
            #expect(other.overlay(on: job) == [])
        }
        var cancelled = JobStanding()
        cancelled.publish(
            try open.effect(on: cancelled)
                + AdvanceState(to: .cancelled).effect(on: JobStanding(values: [.jobState: "scheduled"])))
        #expect(throws: MutationRefusal.self, "never signed") { try sign.effect(on: cancelled) }
    }
}
