import CRDT
import Simulation
import Testing

@Suite("Who is on a job")
struct JobRosterTests {
    private let job = JobID("smith") ?? JobID(.job)
    private let anna = DeviceID(high: 1, low: 1)
    private let ben = DeviceID(high: 2, low: 2)
    private let lead = DeviceID(high: 10, low: 0)
    private let office = DeviceID(high: 11, low: 0)

    private func statement(
        _ words: [Assignment.Word], at milliseconds: UInt64, by signer: DeviceID
    ) throws -> Assignment {
        try #require(
            Assignment(
                of: job, words, stamp: Stamp(milliseconds: milliseconds, counter: 0), signer: signer,
                certificates: [[1]]
            ) { _ in [UInt8](repeating: 7, count: 64) })
    }

    private func on(_ device: DeviceID) -> Assignment.Word { Assignment.Word(device, isOn: true) }
    private func off(_ device: DeviceID) -> Assignment.Word { Assignment.Word(device, isOn: false) }

    @Test(
        "A job that nobody has assigned is everybody's; the first word narrows it, and the last one never opens it again"
    )
    func narrowed() throws {
        var roster = JobRoster()
        #expect(roster.includes(anna) && !roster.isAssigned && roster.fingerprint == 0)
        do {
            let isNews = roster.apply(try statement([on(anna)], at: 1, by: lead))
            #expect(isNews)
        }
        #expect(roster.includes(anna) && !roster.includes(ben) && roster.devices == [anna])
        do {
            let isNews = roster.apply(try statement([off(anna)], at: 2, by: lead))
            #expect(isNews)
        }
        #expect(roster.isAssigned && !roster.includes(anna) && roster.names(anna) && !roster.names(ben))
        #expect(roster.devices.isEmpty)
    }

    @Test("The last word about a laptop stands, whoever said it, and an earlier one is no news")
    func lastWord() throws {
        var roster = JobRoster()
        do {
            let isNews = roster.apply(try statement([on(anna), on(ben)], at: 1, by: lead))
            #expect(isNews)
        }
        do {
            let isNews = roster.apply(try statement([off(anna)], at: 3, by: office))
            #expect(isNews)
        }
        do {
            let isNews = roster.apply(try statement([on(anna)], at: 2, by: lead))
            #expect(!isNews)
        }
        #expect(roster.devices == [ben])
        // Of one time the greater name.
        do {
            let isNews = roster.apply(try statement([on(anna)], at: 3, by: lead))
            #expect(!isNews)
        }
        #expect(roster.lastWord(about: anna)?.signer == office)
        #expect(roster.lastWord(about: anna)?.milliseconds == 3)
    }

    @Test("Only statements of which a word stands are kept, and each brings the same words elsewhere")
    func statements() throws {
        var roster = JobRoster()
        _ = roster.apply(try statement([on(anna), on(ben)], at: 1, by: lead))
        _ = roster.apply(try statement([off(anna)], at: 2, by: office))
        #expect(roster.statements.count == 2)
        _ = roster.apply(try statement([off(ben)], at: 3, by: office))
        #expect(roster.statements.count == 2)
        var other = JobRoster()
        for statement in roster.statements.reversed() {
            let isNews = other.apply(statement)
            #expect(isNews)
        }
        #expect(other.fingerprint == roster.fingerprint && other.devices == roster.devices)
    }

    @Test("The next word is later than all that were said of those laptops, however late a clock has said them")
    func nextStamp() throws {
        var roster = JobRoster()
        #expect(roster.nextStamp(now: 5, about: [anna]) == Stamp(milliseconds: 5, counter: 0))
        _ = roster.apply(try statement([on(anna)], at: 1_000, by: lead))
        #expect(roster.nextStamp(now: 5, about: [anna, ben]) == Stamp(milliseconds: 1_000, counter: 1))
        #expect(roster.nextStamp(now: 5, about: [ben]) == Stamp(milliseconds: 5, counter: 0))
        #expect(roster.nextStamp(now: .max, about: [ben]) < .observable)
    }

    @Test("Of more laptops than there is room for the newest words and the first cutoffs stand, in any order")
    func tooMany() throws {
        let many = JobRoster.mostDevices + 300
        let devices = (1...many).map { DeviceID(high: 20, low: UInt128($0)) }
        for isCutoff in [false, true] {
            var statements: [Assignment] = []
            for start in stride(from: 0, to: many, by: 50) {
                let words = devices[start..<min(start + 50, many)].map { isCutoff ? cutoff($0, 5) : on($0) }
                statements.append(try statement(words, at: UInt64(1 + start / 500), by: lead))
            }
            var generator = SeededGenerator(seed: 3)
            var fingerprints: Set<UInt64> = []
            for order in [statements, statements.reversed(), statements.shuffled(using: &generator)] {
                var roster = JobRoster()
                for statement in order { _ = roster.apply(statement) }
                fingerprints.insert(roster.fingerprint)
                let standing = isCutoff ? Array(roster.cutoffs.keys) : roster.named
                #expect(standing.count == JobRoster.mostDevices)
                #expect(standing.contains(isCutoff ? devices[0] : devices[many - 1]))
                #expect(!standing.contains(isCutoff ? devices[many - 1] : devices[0]))
                // What is kept makes the same again, and there is always room for a new word.
                var again = JobRoster()
                for statement in roster.statements.shuffled(using: &generator) { _ = again.apply(statement) }
                #expect(again.fingerprint == roster.fingerprint)
                let isNews = roster.apply(try statement([on(anna)], at: 9_000, by: office))
                #expect(isNews && roster.devices.contains(anna))
            }
            #expect(fingerprints.count == 1)
        }
    }

    @Test("Words come to the same in any order, and repeated", arguments: 0..<20 as Range<UInt64>)
    func converges(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var statements: [Assignment] = []
        for _ in 0..<30 {
            let words = [anna, ben].filter { _ in Bool.random(using: &generator) }.map {
                Assignment.Word($0, isOn: Bool.random(using: &generator))
            }
            guard !words.isEmpty else { continue }
            let signer = Bool.random(using: &generator) ? lead : office
            statements.append(try statement(words, at: .random(in: 1...5, using: &generator), by: signer))
        }
        var one = JobRoster()
        var other = JobRoster()
        for statement in statements { _ = one.apply(statement) }
        for statement in (statements + statements).shuffled(using: &generator) { _ = other.apply(statement) }
        #expect(one.fingerprint == other.fingerprint && one.devices == other.devices)
        #expect(one.isAssigned == other.isAssigned)
    }

    @Test("What is read is what was written, and nothing else is read")
    func codec() throws {
        let written = try statement([on(anna), off(ben)], at: 7, by: lead)
        let read = try Assignment(
            content: written.content, signature: written.signature, certificates: written.certificates)
        #expect(read == written && read.words == [on(anna), off(ben)] && read.signer == lead)
        for count in 0..<written.content.count {
            #expect(throws: CodecError.self) {
                try Assignment(
                    content: Array(written.content.prefix(count)), signature: written.signature, certificates: [])
            }
        }
        #expect(throws: CodecError.self) {
            try Assignment(content: written.content + [0], signature: written.signature, certificates: [])
        }
        #expect(throws: CodecError.self) {
            try Assignment(content: written.content, signature: [1], certificates: [])
        }
        let nobody = Assignment(of: job, [], stamp: .zero, signer: lead, certificates: []) { _ in written.signature }
        #expect(nobody == nil)
        let twice = Assignment(
            of: job, [on(anna), off(anna)], stamp: .zero, signer: lead, certificates: []
        ) { _ in written.signature }
        #expect(twice == nil)
        let late = Assignment(
            of: job, [on(anna)], stamp: .observable, signer: lead, certificates: []
        ) { _ in written.signature }
        #expect(late == nil)
    }

    private func cutoff(_ device: DeviceID, _ sequence: UInt64) -> Assignment.Word {
        let head = JournalHead(sequence: sequence, digest: 7)
        return word(device, VersionVector([.init(replica: ReplicaID(3), head: head)]))
    }

    private func word(_ device: DeviceID, _ heads: VersionVector) -> Assignment.Word {
        Assignment.Word(device, .cutoff(Assignment.Word.Cutoff(revocation: [1, 2, 3], heads: heads)))
    }

    @Test("Of how far a revoked laptop's journals count the first word stands, and it puts nobody on the job or off it")
    func cutoffs() throws {
        let words = [
            try statement([cutoff(anna, 5)], at: 2, by: lead), try statement([cutoff(anna, 9)], at: 3, by: office),
            try statement([cutoff(anna, 4)], at: 2, by: office), try statement([cutoff(ben, 1)], at: 9, by: office),
        ]
        var fingerprints: Set<UInt64> = []
        for order in [words, words.reversed(), [words[1], words[3], words[0], words[2]]] {
            var roster = JobRoster()
            for word in order { _ = roster.apply(word) }
            #expect(roster.cutoffs[anna]?.heads[ReplicaID(3)].sequence == 5 && roster.cutoffs[anna]?.signer == lead)
            #expect(!roster.isAssigned && roster.includes(anna) && roster.named.isEmpty)
            #expect(Set(roster.statements) == [words[0], words[3]])
            let isNews = words.map { word in roster.apply(word) }
            #expect(isNews == [false, false, false, false])
            fingerprints.insert(roster.fingerprint)
        }
        #expect(fingerprints.count == 1 && !fingerprints.contains(0))
        var other = JobRoster()
        _ = other.apply(try statement([cutoff(anna, 6)], at: 2, by: lead))
        _ = other.apply(words[3])
        #expect(!fingerprints.contains(other.fingerprint))
    }

    @Test("Of one time and signer, too, one word stands in any order")
    func cutoffsOfOneTime() throws {
        let words = try [3, 8, 5].map { try statement([cutoff(anna, $0)], at: 2, by: lead) }
        var standing: Set<UInt64> = []
        for order in [words, words.reversed(), [words[1], words[0], words[2]]] {
            var roster = JobRoster()
            for word in order { _ = roster.apply(word) }
            standing.insert(roster.fingerprint)
        }
        #expect(standing.count == 1)
    }

    @Test("No clock puts a cutoff before the revocation, nor before the word of who has revoked the laptop")
    func firstStamp() {
        #expect(JobRoster.firstStamp(revoked: 7, byRevoker: true) == Stamp(milliseconds: 7, counter: 0))
        #expect(JobRoster.firstStamp(revoked: 7, byRevoker: false) == Stamp(milliseconds: 7, counter: 1))
        #expect(JobRoster.firstStamp(revoked: -7, byRevoker: true) == .zero)
        #expect(JobRoster.firstStamp(revoked: .max, byRevoker: false) < .observable)
    }

    @Test("A cutoff is read as it was written, beside other words, and not beyond its bounds")
    func cutoffCodec() throws {
        let none = word(ben, VersionVector())
        let written = try statement([cutoff(anna, 5), none], at: 7, by: lead)
        let read = try Assignment(content: written.content, signature: written.signature, certificates: [])
        #expect(read.words == [cutoff(anna, 5), none])
        for count in 0..<written.content.count {
            #expect(throws: CodecError.self) {
                try Assignment(
                    content: Array(written.content.prefix(count)), signature: written.signature, certificates: [])
            }
        }
        for count in [Assignment.mostJournals, Assignment.mostJournals + 1] {
            let heads = VersionVector(
                (1...UInt128(count)).map { .init(replica: ReplicaID($0), head: JournalHead(sequence: 1, digest: 1)) })
            let taken = Assignment(
                of: job, [word(anna, heads)], stamp: .zero, signer: lead, certificates: []
            ) { _ in written.signature }
            #expect((taken != nil) == (count == Assignment.mostJournals))
            #expect((try? VersionVector(encoded: heads.encoded)) == (taken == nil ? nil : heads))
        }
    }

    @Test("Who may be told of a job")
    func access() throws {
        var roster = JobRoster()
        _ = roster.apply(try statement([on(anna), off(ben)], at: 1, by: lead))
        for (access, holds, expected) in [
            (JobAccess(anna), false, true),
            (JobAccess(ben), true, false),
            (JobAccess(office, seesAllJobs: true), false, true),
            (JobAccess(anna, isInGrace: true), false, false),
            (JobAccess(anna, isInGrace: true), true, true),
            (JobAccess(ben, isInGrace: true), true, false),
            (JobAccess(office, seesAllJobs: true, isInGrace: true), false, false),
        ] {
            #expect(access.mayReceive(roster, holds: holds) == expected, "\(access) \(holds)")
        }
        #expect(JobAccess(ben).mayReceive(JobRoster(), holds: false))
        #expect(!JobAccess(ben, isInGrace: true).mayReceive(JobRoster(), holds: false))
    }
}
