import Audit
import Authorship
import CRDT
import HTTPCoding
import Identity
import Inventory
import Simulation
import Testing

@Suite("A job's history is checked by whoever trusts the fleet's root")
struct HistoryAuditTests {
    private let job = JobID(ItemID(7))

    private func changes(_ names: [String], at milliseconds: UInt64 = 1_000) -> [UInt8] {
        names.flatMap { name in
            ChangeCodec.encode(
                Change(
                    item: ItemID(5), stamp: Stamp(milliseconds: milliseconds, counter: 0),
                    operations: [.set(field: "name", value: name, replaces: [])]))
        }
    }

    /// Two runs of anna's and one of bert's.
    private func runs() throws -> [JournalSegment] {
        let (anna, bert) = (TestAuthor(1), TestAuthor(2))
        let first = try anna.segment(changes(["Sofa", "Lamp"]), of: job)
        let second = try anna.segment(changes(["Red sofa"], at: 9_000), after: first.head, of: job)
        return [first, second, try bert.segment(changes(["Table"], at: 2_000), of: job)]
    }

    private func lines(of runs: [JournalSegment], fleet: [UInt8]? = nil) throws -> [[UInt8]] {
        var writer = HistoryWriter(job: job, fleet: fleet, time: Timestamp(milliseconds: 10_000))
        var bytes = try writer.beginning()
        for run in runs { bytes += try writer.add(run) }
        bytes += try writer.ending()
        return bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
    }

    private func report(_ lines: [[UInt8]]) async throws -> AuditReport {
        var audit = HistoryAudit()
        for line in lines { try audit.add(line) }
        return try await audit.report()
    }

    @Test("What was signed holds, and who wrote when is told")
    func holds() async throws {
        let runs = try runs()
        var audit = HistoryAudit()
        var seen: [String] = []
        for line in try lines(of: runs) {
            try audit.add(line) { seen.append("\($0.dot.sequence)") }
        }
        let report = try await audit.report()
        #expect(report.holds && report.fleetID == nil)
        #expect(seen == ["1", "2", "3", "1"])
        let anna = try #require(report.journals.first { $0.replicaID == runs[0].replica.description })
        #expect(anna.changes == 3 && anna.standing == .signed && anna.problem == nil)
        #expect(anna.firstAt?.milliseconds == 1_000 && anna.lastAt?.milliseconds == 9_000)
        #expect(anna.deviceID == TestAuthor(1).author.device.description)
    }

    enum Forgery: CaseIterable {
        case byte, omission, order, otherAuthor, noAuthor, signature, otherJob
    }

    @Test("Who was at a laptop is told as its own journal says, and of its changes only")
    func people() async throws {
        let (anna, bert) = (TestAuthor(1), TestAuthor(2))
        func said(_ name: String?, of author: TestAuthor, origin: ReplicaID? = nil) -> [UInt8] {
            let session = name.flatMap { WorkSession(name: $0, since: 1, drift: nil, uncertainty: nil) }
            return ChangeCodec.encode(
                Change(
                    item: .job, stamp: .zero, origin: origin,
                    operations: [
                        .set(field: JobProperty.person(author.replica), value: session?.text ?? "", replaces: [])
                    ]))
        }
        let first = try anna.segment(changes(["a"]) + said("Ann", of: anna) + changes(["b"]), of: job)
        let second = try anna.segment(
            changes(["c"]) + said("Bob", of: anna) + said("Ann", of: anna) + said(nil, of: anna) + changes(["d"]),
            after: first.head, of: job)
        let third = try bert.segment(
            said("Mallory", of: anna) + changes(["e"]) + said("Carl", of: anna, origin: anna.replica)
                + changes(["f"]), of: job)
        var audit = HistoryAudit()
        var told: [String] = []
        for line in try lines(of: [first, second, third]) {
            try audit.add(line) { written in
                guard case .set("name", let value, _)? = written.change.operations.first else { return }
                told.append("\(value) \(written.person ?? "nobody")")
            }
        }
        #expect(told == ["a nobody", "b Ann", "c Ann", "d nobody", "e nobody", "f nobody"])
        let journals = try await audit.report().journals
        func people(_ author: TestAuthor) -> [String]? {
            journals.first { $0.replicaID == author.replica.description }?.people
        }
        #expect(people(anna) == ["Ann", "Bob"] && people(bert) == [])
    }

    @Test("Whatever was altered is found, and of the others all is told", arguments: Forgery.allCases)
    func altered(_ forgery: Forgery) async throws {
        var runs = try runs()
        let mallory = TestAuthor(66)
        func altered(
            _ run: JournalSegment, bytes: [UInt8]? = nil, signature: JournalSignature? = nil,
            author: JournalAuthor? = nil
        ) -> JournalSegment {
            JournalSegment(
                replica: run.replica, first: run.first, head: run.head, bytes: bytes ?? run.bytes,
                signature: signature ?? run.signature, author: author ?? run.author)
        }
        var isJobOther = false
        switch forgery {
        case .byte: runs[1] = altered(runs[1], bytes: changes(["Rad sofa"], at: 9_000))
        case .omission: runs.remove(at: 0)
        case .order: runs.swapAt(0, 1)
        case .otherAuthor:
            // Signed well by a key from which the name does not follow.
            let run = runs[0]
            runs[0] = altered(
                run, signature: TestSigner(66).sign(run.head, of: run.replica, job: job), author: mallory.author)
            runs.remove(at: 1)
        case .noAuthor: for place in 0..<2 { runs[place].author = nil }
        case .signature: runs[1].signature = runs[0].signature
        case .otherJob: isJobOther = true
        }
        var lines = try lines(of: runs)
        if isJobOther {
            let text = String(decoding: lines[0], as: UTF8.self)
            let other = text.replacing(job.text, with: JobID(ItemID(8)).text)
            try #require(other != text)
            lines[0] = Array(other.utf8)
        }
        let report = try await report(lines)
        #expect(!report.holds)
        let broken = report.journals.filter { $0.standing == .broken }
        #expect(broken.count == (isJobOther ? 2 : 1) && broken.allSatisfy { $0.problem != nil })
        #expect(broken.contains { $0.replicaID == TestAuthor(1).replica.description })
        if !isJobOther {
            let bert = report.journals.first { $0.replicaID == TestAuthor(2).replica.description }
            #expect(bert?.standing == .signed && bert?.changes == 1)
        }
    }

    @Test("A file that is not whole, or that is none, is refused with what to do")
    func notWhole() async throws {
        let lines = try lines(of: runs())
        let begunTwice = [lines[0], lines[0]] + lines.dropFirst()
        for refused in [
            [], Array(lines.dropLast()), lines + [lines[1]], Array(lines.dropFirst()), lines + lines, begunTwice,
        ] {
            await #expect(throws: HistoryAudit.Fault.self) { try await report(refused) }
        }
        // One run less than it says.
        await #expect(throws: HistoryAudit.Fault.self) {
            try await report(lines.filter { !String(decoding: $0, as: UTF8.self).contains("\"last\":3") })
        }
        // Of a form that is not known yet.
        let later = String(decoding: lines[0], as: UTF8.self).replacing("\"version\":1", with: "\"version\":2")
        let fault = await #expect(throws: HistoryAudit.Fault.self) {
            try await report([Array(later.utf8)] + lines.dropFirst())
        }
        #expect(fault?.sentence.contains("newer Muster") ?? false)
        for foreign in ["", "{}", "[1]", "\u{0}", "{\"line\":\"run\"}", "{\"line\":\"job\"}"] {
            await #expect(throws: HistoryAudit.Fault.self) {
                try await report([Array(foreign.utf8)] + lines.dropFirst())
            }
        }
    }

    @Test("What the fleet has let in is proven, and what it has not is not, the server's words as well")
    func fleet() async throws {
        let fleet = try TestFleet()
        let other = try TestFleet()
        func author(_ number: UInt64, in fleet: TestFleet) throws -> TestAuthor {
            TestAuthor(number, certificates: try fleet.chain(TestSigner(number).key))
        }
        let (own, foreign) = (try author(1, in: fleet), try author(2, in: other))
        let server = try TestAuthor(
            server: 5, certificates: fleet.chain(TestSigner(5).key, as: .server)
        ).segment(changes(["Hello"]), of: job)
        let runs = [
            try own.segment(changes(["Sofa"]), of: job), try foreign.segment(changes(["Lamp"]), of: job), server,
            try TestAuthor(3).segment(changes(["Table"]), of: job),
        ]
        let report = try await report(lines(of: runs, fleet: fleet.trust.root.bytes))
        #expect(report.fleetID == fleet.trust.short && !report.holds)
        func standing(_ run: JournalSegment) -> AuditReport.Standing? {
            report.journals.first { $0.replicaID == run.replica.description }?.standing
        }
        #expect(runs.map(standing) == [.proven, .outsider, .proven, .outsider])
        // With the certificates of another laptop nobody is let in.
        let borrowed = TestAuthor(4, certificates: own.author.certificates)
        let lie = try await self.report(
            lines(of: [borrowed.segment(changes(["Lie"]), of: job)], fleet: fleet.trust.root.bytes))
        #expect(!lie.holds)
        let proven = try await self.report(lines(of: [runs[0], server], fleet: fleet.trust.root.bytes))
        #expect(proven.holds && Set(proven.journals.map(\.role)) == ["member", "server"])
        #expect(proven.journals.allSatisfy { $0.issuerID != nil })
    }

    @Test("Of two servers that wrote one channel the last one answers for all of it, and no member writes one")
    func servers() async throws {
        let fleet = try TestFleet()
        func server(_ number: UInt64, as role: FleetRole = .server) throws -> TestAuthor {
            TestAuthor(server: number, certificates: try fleet.chain(TestSigner(number).key, as: role))
        }
        let first = try server(5).segment(changes(["Hello"]), of: job)
        func report(then last: TestAuthor) async throws -> AuditReport {
            let second = try last.segment(changes(["Again"]), after: first.head, of: job)
            return try await self.report(lines(of: [first, second], fleet: fleet.trust.root.bytes))
        }
        let renewed = try await report(then: server(6))
        #expect(renewed.holds && renewed.journals.map(\.deviceID) == [TestSigner(6).device.description])
        for wrong in try [server(6, as: .member), server(6, as: .office), TestAuthor(server: 6)] {
            let refused = try await report(then: wrong)
            #expect(!refused.holds && refused.journals.map(\.standing) == [.outsider])
        }
        // Under the name of the one that is known somebody else's signature is none.
        let forged = JournalSegment(
            replica: .channel, first: 2, head: try first.head.after(changes(["Again"])), bytes: changes(["Again"]),
            signature: JournalSignature([UInt8](repeating: 1, count: 64) + TestSigner(5).publicKey))
        let broken = try await self.report(lines(of: [first, forged], fleet: fleet.trust.root.bytes))
        #expect(!broken.holds && broken.journals.map(\.standing) == [.broken])
    }

    private func signed(by name: String) -> [UInt8] {
        let value = "{\"name\":\"\(name)\",\"digest\":\"\(String(repeating: "ab", count: 32))\"}"
        return ChangeCodec.encode(
            Change(
                item: .job, stamp: Stamp(milliseconds: 5_000, counter: 0),
                operations: [.publish(PublishedValue(name: "signature", value: value))]))
    }

    @Test("A line that names the server lends its name to nobody, and a customer's signature needs the server")
    func borrowedName() async throws {
        let fleet = try TestFleet()
        let root = fleet.trust.root.bytes
        let server = TestAuthor(server: 5, certificates: try fleet.chain(TestSigner(5).key, as: .server))
        let honest = try lines(of: [server.segment(signed(by: "Smith"), of: job)], fleet: root)
        let proven = try await report(honest)
        #expect(proven.holds && proven.signatures.map(\.name) == ["Smith"])
        let forged = try lines(of: [TestAuthor(server: 66).segment(signed(by: "Mallory"), of: job)], fleet: root)
        for place in 1..<forged.count {
            var borrowed = forged
            borrowed.insert(honest[1], at: place)
            let found = try await report(borrowed)
            #expect(!found.holds && found.journals.map(\.standing) == [.outsider], "\(place)")
            #expect(found.journals.map(\.deviceID) == [TestSigner(66).device.description] && found.signatures.isEmpty)
        }
        // Without a fleet nobody says who the server is.
        let nobodys = try await report(lines(of: [server.segment(signed(by: "Smith"), of: job)]))
        #expect(nobodys.journals.map(\.standing) == [.signed] && nobodys.signatures.isEmpty)
    }

    @Test("What somebody wrote whom the fleet lets look only is nobody's")
    func reader() async throws {
        let fleet = try TestFleet()
        let found = try await report(
            lines(
                of: [
                    TestAuthor(1, certificates: fleet.chain(TestSigner(1).key, as: .reader))
                        .segment(changes(["Sofa"]), of: job)
                ], fleet: fleet.trust.root.bytes))
        #expect(!found.holds && found.journals.map(\.standing) == [.outsider])
    }

    @Test("A line says nothing that is not checked: what is misspelt does not count as left out")
    func unknownKeys() async throws {
        let lines = try lines(of: runs(), fleet: TestFleet().trust.root.bytes)
        for place in lines.indices {
            var added = lines
            added[place] = Array("{\"remark\":\"owes 1000\",".utf8) + lines[place].dropFirst()
            await #expect(throws: HistoryAudit.Fault.self, "\(place)") { try await report(added) }
        }
        var misspelt = lines
        misspelt[0] = Array(String(decoding: lines[0], as: UTF8.self).replacing("\"fleet\"", with: "\"flaet\"").utf8)
        try #require(misspelt != lines)
        await #expect(throws: HistoryAudit.Fault.self) { try await report(misspelt) }
        // Which of two counts is a matter of who reads it.
        var twice = lines
        twice[0] = Array(#"{"fleet":null,"#.utf8) + lines[0].dropFirst()
        await #expect(throws: HistoryAudit.Fault.self) { try await report(twice) }
    }
}
