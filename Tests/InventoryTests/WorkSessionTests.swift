import CRDT
import Inventory
import Testing

@Suite("A change is of the person whom its journal names before it")
struct WorkSessionTests {
    private static let (anna, bert) = (ReplicaID(1), ReplicaID(2))

    private static func session(_ name: String) throws -> WorkSession {
        try #require(WorkSession(name: name, since: 1_000, drift: -12, uncertainty: nil))
    }

    /// - Parameter records: journal, author, sequence, stamp, the greatest stamp before, who.
    private func sessions(
        _ records: [(ReplicaID, ReplicaID, UInt64, UInt64, UInt64, String)]
    ) throws -> WorkSessions {
        var sessions = WorkSessions()
        for (journal, author, sequence, stamp, before, name) in records {
            sessions.add(
                WorkSessionRecord(
                    journal: journal, author: author, sequence: sequence, stamp: Stamp(rawValue: stamp),
                    before: Stamp(rawValue: before), text: name.isEmpty ? "" : try Self.session(name).text))
        }
        return sessions
    }

    private func key(_ author: ReplicaID, _ sequence: UInt64, in journal: ReplicaID? = nil) -> TimelineKey {
        TimelineKey(anchor: 0, stamp: .zero, replica: author, sequence: sequence, journal: journal)
    }

    private func write(_ author: ReplicaID, _ stamp: UInt64) -> WriteStamp {
        WriteStamp(stamp: Stamp(rawValue: stamp), author: author)
    }

    @Test("A session reads as it was written, whatever the name holds; nobody, and what is none, read as nobody")
    func text() throws {
        for (name, drift, uncertainty) in [
            ("Ann", 12, 3), ("Ann van  der Berg ", -7_200_000, nil), ("-", nil, nil), ("é", nil, 5),
        ] as [(String, Int64?, Int64?)] {
            let session = try #require(
                WorkSession(name: name, since: 1_764_148_352_125, drift: drift, uncertainty: uncertainty))
            #expect(WorkSession(text: session.text) == session)
        }
        #expect(WorkSession(name: "Ann", since: 5, drift: -12, uncertainty: nil)?.text == "5 -12 - Ann")
        let long = String(repeating: "x", count: WorkSession.longestName + 1)
        for text in ["", "Ann", "5 12 3", "5 12 3 ", "x 12 3 Ann", "-5 12 3 Ann", "5 x 3 Ann", "5 1 2 \(long)"] {
            #expect(WorkSession(text: text) == nil, "\(text)")
        }
    }

    @Test("What stands before the first record is nobody's, what follows one is its person's, after the end nobody's")
    func places() throws {
        let sessions = try sessions([
            (Self.anna, Self.anna, 3, 30, 20, "Ann"), (Self.anna, Self.anna, 7, 70, 60, "Bob"),
            (Self.anna, Self.anna, 9, 90, 80, ""),
        ])
        #expect(
            [1, 3, 4, 7, 8, 9, 10].map { sessions.person(at: key(Self.anna, $0)) }
                == [nil, nil, "Ann", "Ann", "Bob", "Bob", nil])
        #expect(
            [10, 20, 31, 60, 71, 80, 91].map { sessions.person(of: write(Self.anna, $0)) }
                == [nil, nil, "Ann", "Ann", "Bob", "Bob", nil])
        #expect(sessions.person(at: key(Self.bert, 4)) == nil && sessions.person(of: write(Self.bert, 31)) == nil)
        #expect(sessions.latest(of: Self.anna) == nil && sessions.latest(of: Self.bert) == nil)
    }

    @Test("Where stamps do not tell two people apart nobody is named, but one person in two stretches is")
    func ambiguous() throws {
        // Ann wrote on top of a change from the future: up to 500, before Bob's record of 70.
        let sessions = try sessions([
            (Self.anna, Self.anna, 3, 30, 20, "Ann"), (Self.anna, Self.anna, 7, 70, 500, "Bob"),
        ])
        #expect([31, 70].map { sessions.person(of: write(Self.anna, $0)) } == ["Ann", "Ann"])
        #expect([71, 500].map { sessions.person(of: write(Self.anna, $0)) } == [nil, nil])
        #expect(sessions.person(of: write(Self.anna, 501)) == "Bob")
        #expect([6, 8].map { sessions.person(at: key(Self.anna, $0)) } == ["Ann", "Bob"])
        let same = try self.sessions([
            (Self.anna, Self.anna, 3, 30, 20, "Ann"), (Self.anna, Self.anna, 7, 70, 500, "Ann"),
        ])
        #expect(same.person(of: write(Self.anna, 71)) == "Ann")
    }

    @Test("Work that is issued again in another journal is of whom that journal names for its author")
    func issuedAgain() throws {
        let sessions = try sessions([
            (Self.anna, Self.anna, 3, 30, 20, "Ann"), (Self.bert, Self.bert, 2, 40, 0, "Bob"),
            (Self.bert, Self.anna, 5, 30, 0, "Carl"),
        ])
        #expect(sessions.person(at: key(Self.anna, 6, in: Self.bert)) == "Carl")
        #expect(sessions.person(at: key(Self.bert, 6, in: Self.bert)) == "Bob")
        #expect(sessions.person(at: key(Self.anna, 6)) == "Ann")
        #expect(sessions.person(of: write(Self.anna, 31)) == nil, "it may stand in either journal")
        #expect(sessions.latest(of: Self.anna)?.name == "Ann")
    }

    @Test("A change names people of its author's laptop only")
    func ofOthers() throws {
        func change(_ field: FieldName, item: ItemID = .job, origin: ReplicaID? = nil) -> Change {
            Change(
                item: item, stamp: .zero, origin: origin, operations: [.set(field: field, value: "x", replaces: [])])
        }
        let own = JobProperty.person(Self.anna)
        #expect(change(own).workSessionText(in: Self.anna) == "x")
        #expect(change(own).workSessionText(in: Self.bert) == nil)
        #expect(change(own, origin: Self.bert).workSessionText(in: Self.anna) == nil)
        #expect(change(own, origin: Self.anna).workSessionText(in: Self.bert) == "x")
        #expect(change(own, item: ItemID(5)).workSessionText(in: Self.anna) == nil)
        #expect(change(JobProperty.author(Self.anna)).workSessionText(in: Self.anna) == nil)
        #expect(JobProperty.isAuthor(own) && JobProperty.isPerson(own))
        #expect(!JobProperty.isPerson(JobProperty.author(Self.anna)) && !JobProperty.isPerson("next.person"))
    }
}
