import LocalAPIServer
import Simulation
import Storage
import Inventory
import CRDT
import HTTPCoding
import LocalAPI
import Testing

@testable import Node

/// Jobs as people make, find, count and remove them.
@Suite(.timeLimit(.minutes(1)))
struct JobServiceTests {
    @Test("A new job is empty, and was written now by this laptop")
    func created() async throws {
        let anna = try await Laptop("anna")
        let id = try await anna.job("Smith")
        let job = try await anna.service.job(id)
        #expect(job.name == "Smith" && job.kind == .inventory && job.state == ShownState())
        #expect(job.items == 0 && job.removed == 0 && job.conflicts == 0 && job.late == 0 && !job.isRemoved)
        #expect(job.volume == Volume(cubicFeet: 0, cubicMetres: 0) && job.signature == nil)
        #expect(job.updatedAt == Laptop.moment)
        #expect(Array(job.vector.keys) == [anna.store.identity.replica.description])
        #expect(job.digest?.utf8.count == 64)
        #expect(try await anna.service.job(id, makesDigest: false).digest == job.digest)
        _ = try await anna.add(["category": "sofa-3-seat"], to: id)
        let changed = try await anna.service.job(id, makesDigest: false)
        #expect(changed.digest == nil && changed.items == 1 && changed.volume.cubicFeet == 50)
    }

    @Test("What is done on a laptop alone has the same ids, times and bytes each time")
    func reproducible() async throws {
        func story() async throws -> (JobDetails, [ChangeReport], [UInt8], [String]) {
            let anna = try await Laptop("anna")
            let job = try await anna.job("Smith", .pickup)
            let sofa = try await anna.add(["name": "Sofa"], to: job)
            try await anna.set(["room": "Den"], of: sofa, in: job)
            let tokens = try await anna.service.advance(AdvanceRequest(state: "dispatched"), job: job).tokens
            let id = try #require(JobID(job))
            return (
                try await anna.service.job(job), try await anna.log(job), try await anna.exported(id, .json), tokens
            )
        }
        let (first, second) = (try await story(), try await story())
        #expect(first == second)
    }

    @Test("A job takes the id that it is given, and its name without the white space around it")
    func given() async throws {
        let anna = try await Laptop("anna")
        #expect(try await anna.job(" Smith, 12 Elm\n", .pickup, id: "2026-0815") == "2026-0815")
        let job = try await anna.service.job("2026-0815")
        #expect(job.name == "Smith, 12 Elm" && job.kind == .pickup)
    }

    @Test("The list has every job once, with what is in it")
    func listed() async throws {
        let anna = try await Laptop("anna")
        for id in ["C", "A", "B"] { _ = try await anna.job("Job \(id)", id: id) }
        let chair = try await anna.add(["name": "Chair", "barcode": "7"], to: "A")
        _ = try await anna.add(["name": "Table", "barcode": "8"], to: "A")
        _ = try await anna.add(["name": "Bench", "barcode": "8"], to: "A")
        _ = try await anna.service.removeItem(chair, job: "A")
        let jobs = try await anna.service.jobs()
        #expect(jobs.map(\.id) == ["A", "B", "C"] && jobs.map(\.name) == ["Job A", "Job B", "Job C"])
        #expect(jobs.map(\.items) == [2, 0, 0] && jobs.map(\.removed) == [1, 0, 0])
        #expect(jobs.map(\.conflicts) == [1, 0, 0], "two items have one barcode")
        #expect(jobs[0].updatedAt == Timestamp(milliseconds: Laptop.moment.milliseconds + 3_000))
        #expect(try await anna.service.status().jobs == 3)
    }

    @Test("Counts, volume and digest follow what is written")
    func counted() async throws {
        let anna = try await Laptop("anna")
        let job = try await anna.job("Smith")
        var digests: Set<String> = []
        func expect(_ items: Int, _ removed: Int, cubicFeet: Double) async throws {
            let details = try await anna.service.job(job)
            #expect(details.items == items && details.removed == removed)
            #expect(details.volume.cubicFeet == cubicFeet)
            #expect(digests.insert(try #require(details.digest)).inserted)
        }
        let sofa = try await anna.add(["category": "sofa-3-seat"], to: job)
        try await expect(1, 0, cubicFeet: 50)
        let cartons = try await anna.add(["category": "carton-small", "quantity": "12"], to: job)
        try await expect(2, 0, cubicFeet: 68)
        try await anna.set(["volumeCubicFeet": "48.25"], of: sofa, in: job)
        try await expect(2, 0, cubicFeet: 66.25)
        _ = try await anna.service.removeItem(cartons, job: job)
        try await expect(1, 1, cubicFeet: 48.25)
        _ = try await anna.service.restoreItem(cartons, job: job)
        try await expect(2, 1, cubicFeet: 66.25)
    }

    @Test(
        "A job is found by its id, the beginning of it that no other has, and its name",
        arguments: ["Elm-12", "Elm-1", "Elm-", "m-12", "Smith", " Smith "])
    func found(text: String) async throws {
        let anna = try await Laptop("anna")
        _ = try await anna.job("Smith", id: "Elm-12")
        _ = try await anna.job("Jones", id: "Oak-3")
        guard text == " Smith " else {
            #expect(try await anna.service.job(text).id == "Elm-12")
            return
        }
        let refusal = await #expect(throws: APIError.self) { try await anna.service.job(text) }
        #expect(refusal?.code == .unknownJob, "white space is no part of a name")
    }

    @Test("The summary adds up rooms and categories, and has the digest of what it added up")
    func summary() async throws {
        let anna = try await Laptop("anna")
        let job = try await anna.job("Smith")
        _ = try await anna.add(["category": "sofa-3-seat", "room": "Den"], to: job)
        _ = try await anna.add(["category": "bench", "quantity": "3", "room": "Hall"], to: job)
        let odd = try await anna.add(["category": "bench", "room": "Hall"], to: job)
        let piano = try await anna.add(["room": "Den"], to: job)
        // Of a colleague who means it.
        let id = try #require(JobID(job))
        try await anna.put([("quantity", "two")], item: try #require(ItemID(odd)), job: id)
        try await anna.put([("category", "harpsichord")], item: try #require(ItemID(piano)), job: id)
        let report = try await anna.service.summary(job: job)
        #expect(report.total.items == 4 && report.total.cubicFeet == 70)
        #expect(report.rooms.map(\.name) == ["Den", "Hall"] && report.rooms.map(\.cubicFeet) == [50, 20])
        #expect(report.unknownVolumeItems == 1 && report.unknownVolumeExamples == [piano])
        #expect(report.unreadableExamples.map(\.item) == [odd])
        #expect(report.digest == (try await anna.service.job(job).digest))
    }

    @Test("The log tells what happened in its order, of the whole job or of one item")
    func log() async throws {
        let anna = try await Laptop("anna")
        let job = try await anna.job("Smith")
        let sofa = try await anna.add(["name": "Sofa", "room": "Hall"], to: job)
        let lamp = try await anna.add(["name": "Lamp"], to: job)
        try await anna.set(["room": "Den"], of: sofa, in: job)
        _ = try await anna.service.addNote(NoteRequest(text: "left leg scratched"), item: sofa, job: job)
        _ = try await anna.service.removeItem(lamp, job: job)
        let log = try await anna.log(job)
        #expect(log.map(\.action) == [.changed, .added, .added, .changed, .noted, .removed])
        // The first change of the job itself is that its laptop says who it is, which is not told.
        #expect(log.map(\.itemName) == ["Smith", "Sofa", "Lamp", "Sofa", "Sofa", "Lamp"])
        #expect(log.allSatisfy { $0.byName == "anna" } && log.map(\.at) == log.map(\.at).sorted())
        #expect(log[3].fields == [FieldChange(field: "room", from: "Hall", to: "Den", standing: .stands)])
        #expect(log[1].fields.map(\.standing) == [.stands, .replaced], "the name stands, the room was written again")
        #expect(try await anna.log(job, item: sofa) == log.filter { $0.item == sofa })
        #expect(try await anna.log(job, item: lamp).map(\.action) == [.added, .removed])
    }

    @Test("A name that cannot be one is refused", arguments: ["", " \n ", "a\tb", String(repeating: "x", count: 257)])
    func badName(name: String) async throws {
        let anna = try await Laptop("anna")
        let refusal = await #expect(throws: APIError.self) { try await anna.job(name) }
        #expect(refusal?.code == .invalidValue)
        #expect(try await anna.service.jobs().isEmpty)
    }

    @Test(
        "An id that cannot be one is refused",
        arguments: ["", ".hidden", "a/b", "ä", String(repeating: "x", count: 65)])
    func badID(id: String) async throws {
        let anna = try await Laptop("anna")
        let refusal = await #expect(throws: APIError.self) { try await anna.job("Smith", id: id) }
        #expect(refusal?.code == .invalidValue && refusal?.message.last == ".")
    }

    @Test("A job is removed only when that is meant; then it is not listed, has nothing in it and takes nothing")
    func removed() async throws {
        let anna = try await Laptop("anna")
        _ = try await anna.job("Smith", id: "Elm")
        let sofa = try await anna.add(["name": "Sofa"], to: "Elm")
        let unsure = await #expect(throws: APIError.self) {
            try await anna.service.removeJob("Elm", isConfirmed: false)
        }
        #expect(unsure?.code == .confirmationNeeded && unsure?.message.contains("with 1 item for good") == true)
        #expect(try await anna.service.job("Elm").items == 1)
        #expect(try await anna.service.removeJob("Smith", isConfirmed: true).id == "Elm")
        #expect(try await anna.service.jobs().isEmpty)
        let job = try await anna.service.job("Elm")
        #expect(job.isRemoved && job.name == "Smith" && job.items == 0)
        let listed = await #expect(throws: APIError.self) { try await anna.items("Elm") }
        #expect(listed?.code == .jobRemoved)
        let late = await #expect(throws: APIError.self) { try await anna.set(["room": "Den"], of: sofa, in: "Elm") }
        #expect(late?.code == .jobRemoved)
        let taken = await #expect(throws: APIError.self) { try await anna.job("Smith", id: "Elm") }
        #expect(taken?.code == .jobExists)
    }
}
