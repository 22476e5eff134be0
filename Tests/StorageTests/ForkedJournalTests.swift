import Authorship
import CRDT
import Simulation
import Storage
import Testing

@Suite("Branches of a journal are put in the place of others only as their authors signed them")
struct ForkedJournalTests {
    @Test("What another branch was put behind leaves with it, up to where its author has signed")
    func afterAFork() async throws {
        let place = try Place()
        let author = TestAuthor(7)
        let (held, branch) = (try author.run(["a", "b", "c"]), try author.run(["a", "b", "x", "y"]))
        let bert = try await place.open("bert")
        _ = try await bert.ingest(held, job: Store.job, now: .anyTime)
        _ = try await bert.adoptBranch(
            try await place.rest(of: branch, from: 3), job: Store.job, after: 2, now: .anyTime,
            using: &place.generator)
        // The row that was cut ends where nobody has signed.
        let carl = try await place.open("carl")
        for from in [1, 3, 4] as [UInt64] {
            let passedOn = try #require(
                try await bert.segment(of: author.replica, job: Store.job, from: from, maximumBytes: 1))
            #expect(passedOn.head == branch.head && passedOn.signature == branch.signature)
            guard from == 1 else { continue }
            #expect(try await carl.ingest(passedOn, job: Store.job, now: .anyTime).result == .stored)
        }
    }

    @Test("A part of what is held is no branch, and what this store has not signed gives it no other name")
    func noBranch() async throws {
        let place = try Place()
        let anna = try await place.open("anna")
        try await anna.put(1, "name", "Sofa")
        let written = try #require(
            try await anna.segment(of: anna.identity.replica, job: Store.job, from: 1, maximumBytes: .max))
        let bert = try await place.open("bert")
        let author = TestAuthor(7)
        let short = try author.run(["a", "b"])
        _ = try await bert.ingest(author.run(["a", "b", "c"]), job: Store.job, now: .anyTime)
        let (heldByAnna, heldByBert) = (try await anna.exported(), try await bert.exported())
        func isRefused(_ segment: JournalSegment, after keep: UInt64, by store: Store) async throws {
            let error = await #expect(throws: StoreError.self) {
                try await store.adoptBranch(
                    segment, job: Store.job, after: keep, now: .anyTime, using: &place.generator)
            }
            #expect(error?.code == .falseBranch || error?.code == .other, "\(error?.description ?? "")")
        }
        try await isRefused(place.rest(of: short, from: 2), after: 1, by: bert)
        try await isRefused(author.run(["x"]), after: 1, by: bert)
        // Of anna's own journal: unsigned, and signed but held.
        let other = JournalSegment(
            replica: written.replica, first: 1, head: try .empty.after(short.bytes), bytes: short.bytes,
            signature: written.signature, author: written.author)
        let name = anna.identity.replica
        try await isRefused(other, after: 0, by: anna)
        try await isRefused(written, after: 0, by: anna)
        #expect(anna.identity.replica == name)
        #expect(try await anna.exported() == heldByAnna)
        #expect(try await bert.exported() == heldByBert)
    }

    @Test("A branch is not taken that could not be passed on, together with what it follows")
    func tooLongTogether() async throws {
        let place = try Place()
        let author = TestAuthor(7)
        func names(_ count: Int, _ last: String) -> [String] {
            (0..<count).map { "\($0) " + String(repeating: "x", count: 10_000) } + [last]
        }
        // A row of 400 KB, which is cut before its last change; and a branch that goes on for 500 KB, or for 700.
        for (more, isTaken) in [(50, true), (70, false)] {
            let bert = try await place.open("bert \(more)")
            let held = try author.run(names(40, "held"))
            _ = try await bert.ingest(held, job: Store.job, now: .anyTime)
            let before = try await bert.exported()
            let base = try JournalHead.empty.after(author.run(names(39, names(40, "")[39])).bytes)
            let branch = try author.segment(author.run(names(more, "branch")).bytes, after: base, of: Store.job)
            func adopt() async throws {
                _ = try await bert.adoptBranch(
                    branch, job: Store.job, after: 40, now: .anyTime, using: &place.generator)
            }
            if isTaken {
                try await adopt()
                // What is read before it does not make the run longer.
                for from in [1, 40, 41, 60] as [UInt64] {
                    let passedOn = try #require(
                        try await bert.segment(
                            of: author.replica, job: Store.job, from: from, maximumBytes: JournalSegment.usualBytes))
                    #expect(passedOn.bytes.count <= JournalSegment.longestBytes && passedOn.signature != nil)
                }
            } else {
                let error = await #expect(throws: StoreError.self) { try await adopt() }
                #expect(error?.code == .other)
                #expect(try await bert.exported() == before)
            }
        }
    }

    @Test("What is signed is passed on without what follows it unsigned")
    func signedBeforeUnsigned() async throws {
        let place = try Place()
        let author = TestAuthor(7)
        let bert = try await place.open("bert")
        let first = try author.run(["a"])
        let long = try author.run((0..<60).map { "\($0) " + String(repeating: "x", count: 10_000) })
        let next = try author.segment(long.bytes, after: first.head, of: Store.job)
        for run in [first, next] { _ = try await bert.ingest(run, job: Store.job, now: .anyTime) }
        for (from, run) in [(1, first), (2, next)] as [(UInt64, JournalSegment)] {
            let passedOn = try await bert.segment(of: author.replica, job: Store.job, from: from, maximumBytes: .max)
            #expect(passedOn?.head == run.head && passedOn?.signature == run.signature)
        }
    }
}
