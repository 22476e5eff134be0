import CRDT
import Engine
import HTTPCoding
import Identity
import LocalAPI
import LocalAPIServer
import Replication
import Simulation
import Storage
import Testing
import WireFormat

@testable import Node

/// What a carried file says is judged as what a peer says.
@Suite(.timeLimit(.minutes(1)))
struct CarryTests {
    /// Of one fleet.
    struct Crew {
        let fleet: TestFleet
        let laptops: [String: Laptop]

        init(_ roles: [String: FleetRole]) async throws {
            fleet = try TestFleet(founded: Laptop.moment.milliseconds)
            var laptops: [String: Laptop] = [:]
            for (name, role) in roles.sorted(by: { $0.key < $1.key }) {
                let laptop = try await Laptop(name)
                let pem = try fleet.chain(laptop.service.fleet.key, as: role).map { try FleetCertificate($0).pem }
                try await laptop.service.fleet.install(pem.joined() + fleet.root.certificate.pem)
                laptops[name] = laptop
            }
            self.laptops = laptops
        }

        subscript(name: String) -> Laptop {
            get throws { try #require(laptops[name]) }
        }
    }

    static func carriedOut(_ from: Laptop, to: Laptop, jobs: [String]? = nil) async throws -> [UInt8] {
        let card = try await to.service.carryCard()
        let request = CarryOutRequest(to: card.deviceID, cards: [card.certificates], jobs: jobs)
        return try await from.service.carryOut(request).all()
    }

    static func carryIn(_ file: [UInt8], to laptop: Laptop) async throws -> CarryReport {
        let starts = stride(from: 0, to: file.count, by: 1000)
        let pieces = AsyncThrowingStream<[UInt8], any Error> { continuation in
            for start in starts { continuation.yield(Array(file[start..<min(start + 1000, file.count)])) }
            continuation.finish()
        }
        return try await laptop.service.carryIn(Upload(pieces: pieces))
    }

    /// A file that says whatever one likes.
    static func file(
        of messages: [Message], by writer: DeviceKey, showing chain: [[UInt8]], to reader: Laptop,
        signedBy: DeviceKey? = nil
    ) throws -> [UInt8] {
        var sealer = try CarriedSealer(to: reader.service.fleet.key.publicKey)
        let greeting = CarriedGreeting(signature: sealer.signature(by: signedBy ?? writer), chain: chain)
        var file = sealer.header + (try sealer.seal(greeting.bytes, isLast: false))
        for message in messages { file += try sealer.seal(try RecordedMessages.frame(of: message), isLast: false) }
        return file + (try sealer.seal([], isLast: true))
    }

    static func hello(_ key: DeviceKey) -> Message {
        .hello(
            Hello(
                minimumVersion: ProtocolLimits.minimumVersion, maximumVersion: ProtocolLimits.version,
                device: key.publicKey.device, instance: 1, name: "dora"))
    }

    @Test("What is carried is what a peer would bring, and a second time it is nothing")
    func overAndAgain() async throws {
        let crew = try await Crew(["anna": .member, "bert": .member])
        let (anna, bert) = (try crew["anna"], try crew["bert"])
        let job = try await anna.job("Smith", id: "Elm")
        for name in ["Sofa", "Rug"] { _ = try await anna.add(["name": name], to: job) }
        let file = try await Self.carriedOut(anna, to: bert)
        let report = try await Self.carryIn(file, to: bert)
        #expect(report.isWhole && report.name == "anna" && report.jobs.map(\.job) == [job])
        let id = try #require(JobID(job))
        #expect(try await bert.exported(id, .json) == anna.exported(id, .json))
        let again = try await Self.carryIn(file, to: bert)
        #expect(again.isWhole && again.changes == 0 && again.jobs.isEmpty && again.words == 0)
    }

    @Test("Only one's own key shows who has written a file, and only the fleet's certificates let it be read")
    func whoHasWritten() async throws {
        let crew = try await Crew(["anna": .member])
        let anna = try crew["anna"]
        let (dora, thief) = (DeviceKey(), DeviceKey())
        let chain = try crew.fleet.chain(dora)
        let honest = try Self.file(of: [Self.hello(dora)], by: dora, showing: chain, to: anna)
        #expect(try await Self.carryIn(honest, to: anna).isWhole)
        let other = try TestFleet(founded: Laptop.moment.milliseconds)
        for (file, words) in [
            (try Self.file(of: [Self.hello(dora)], by: dora, showing: chain, to: anna, signedBy: thief), "not shown"),
            (try Self.file(of: [Self.hello(thief)], by: dora, showing: chain, to: anna), "damaged"),
            (try Self.file(of: [Self.hello(dora)], by: dora, showing: other.chain(dora), to: anna), "another fleet"),
            (try Self.file(of: [], by: dora, showing: [], to: anna), "damaged"),
        ] {
            let refusal = await #expect(throws: APIError.self) { try await Self.carryIn(file, to: anna) }
            let message = refusal?.message ?? ""
            #expect(refusal?.code == .invalidValue && message.contains(words), "\(message)")
        }
    }

    @Test("A job is not carried to who is not on it, and its end is not taken from there")
    func membership() async throws {
        let crew = try await Crew(["lea": .lead, "bert": .member, "carl": .member])
        let (lea, bert, carl) = (try crew["lea"], try crew["bert"], try crew["carl"])
        let job = try await lea.service.createJob(
            CreateJobRequest(name: "Smith", laptops: [bert.service.fleet.device.description])
        ).id
        _ = try await lea.add(["name": "Sofa"], to: job)
        #expect(try await Self.carryIn(try await Self.carriedOut(lea, to: carl), to: carl).jobs.isEmpty)
        #expect(try await carl.service.jobs(named: nil).isEmpty)
        _ = try await Self.carryIn(try await Self.carriedOut(lea, to: bert), to: bert)
        #expect(try await bert.service.jobs(named: nil).map(\.id) == [job])
        // Carl knows the job's number and says that it has ended, by the words that are true.
        let id = try #require(JobID(job))
        let roster = bert.core.assignments.roster(of: id)
        let end = ToldEnd(JobRemoval(name: "Smith", heads: VersionVector()), knowing: roster.fingerprint)
        let key = carl.service.fleet.key
        let said: [Message] = [Self.hello(key), .vector(job: id, VersionVector(), end: end)]
        let file = try Self.file(of: said, by: key, showing: try crew.fleet.chain(key), to: bert)
        let report = try await Self.carryIn(file, to: bert)
        #expect(
            report.jobs.first?.hasEnded == false && report.jobs.first?.refused.first?.contains("not on the job") == true
        )
        #expect(try await bert.service.job(job).isRemoved == false)
        // From who is on it, but goes by other words, neither.
        let stale = ToldEnd(JobRemoval(name: "Smith", heads: VersionVector()), knowing: roster.fingerprint &+ 1)
        let leas = lea.service.fleet.key
        let again = try Self.file(
            of: [Self.hello(leas), .vector(job: id, VersionVector(), end: stale)], by: leas,
            showing: try crew.fleet.chain(leas, as: .lead), to: bert)
        #expect(try await Self.carryIn(again, to: bert).jobs.first?.refused.first?.contains("other words") == true)
        #expect(try await bert.service.job(job).isRemoved == false)
    }

    @Test("A run that begins after what is here is left and named; one that nobody has signed ends the reading")
    func gaps() async throws {
        let crew = try await Crew(["anna": .member, "bert": .member])
        let (anna, bert) = (try crew["anna"], try crew["bert"])
        let job = try #require(JobID(try await anna.job("Smith", id: "Elm")))
        _ = try await anna.add(["name": "Sofa"], to: job.text)
        _ = try await anna.add(["name": "Rug"], to: job.text)
        let replica = anna.store.identity.replica
        let whole = try #require(try await anna.store.segment(of: replica, job: job, from: 1, maximumBytes: .max))
        let later = try #require(try await anna.store.segment(of: replica, job: job, from: 4, maximumBytes: .max))
        #expect(later.first > 1)
        let key = anna.service.fleet.key
        let other = try #require(JobID(try await anna.job("Jones", id: "Oak")))
        func told(_ segment: JournalSegment, then next: JournalSegment? = nil) async throws -> CarryReport {
            var messages: [Message] = [Self.hello(key), .delta(job: job, segment, pushed: false)]
            if let next { messages.append(.delta(job: other, next, pushed: false)) }
            return try await Self.carryIn(
                try Self.file(of: messages, by: key, showing: try crew.fleet.chain(key), to: bert), to: bert)
        }
        let gap = try await told(later)
        #expect(gap.isWhole && gap.changes == 0 && gap.jobs.first?.refused.first?.contains("goes on after") == true)
        let forged = JournalSegment(
            replica: replica, first: 1, head: whole.head, bytes: whole.bytes,
            signature: JournalSignature(Array(repeating: 1, count: 64)), author: whole.author)
        // What lay beside it is stored by then: it is told of, to people and to others.
        let beside = try #require(try await anna.store.segment(of: replica, job: other, from: 1, maximumBytes: .max))
        let stopped = try await told(forged, then: beside)
        #expect(!stopped.isWhole && stopped.problem?.contains("has not signed") == true)
        #expect(stopped.changes == Int(beside.head.sequence))
        #expect(await bert.core.replicator.holdings(of: other).vector[replica] == beside.head)
        #expect(await bert.core.replicator.refusedWork.map(\.cause) == [.unsigned])
        #expect(try await told(whole).changes == Int(whole.head.sequence))
    }

    @Test("A revocation in a file is in force before anything else of it, also against its writer")
    func revokedWriter() async throws {
        let crew = try await Crew(["anna": .member])
        let anna = try crew["anna"]
        let dora = DeviceKey()
        let revocation = try crew.fleet.revocation(of: dora.publicKey.device)
        let said: [Message] = [Self.hello(dora), .revocations([revocation.bytes])]
        let file = try Self.file(of: said, by: dora, showing: try crew.fleet.chain(dora), to: anna)
        let report = try await Self.carryIn(file, to: anna)
        #expect(!report.isWhole && report.problem?.contains("revoked") == true && report.words == 1)
        let refusal = await #expect(throws: APIError.self) { try await Self.carryIn(file, to: anna) }
        #expect(refusal?.message.contains("revoked") == true)
    }
}
