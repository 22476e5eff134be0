import CRDT
import HTTPCoding
import Inventory
import LocalAPI
import LocalAPIServer
import Storage
import Testing

@testable import Node

/// What two laptops wrote without knowing of each other: listed, counted and settled.
@Suite(.timeLimit(.minutes(1)))
struct ConflictTests {
    /// Both made the job, and a third took them in.
    private func crew() async throws -> (anna: Laptop, bert: Laptop, job: JobID) {
        let (anna, bert) = (try await Laptop("anna"), try await Laptop("bert"))
        let job = try #require(JobID("Smith-12"))
        _ = try await anna.service.createJob(CreateJobRequest(name: "Smith", kind: .pickup, id: job.text))
        _ = try await bert.service.createJob(CreateJobRequest(name: "Smyth", kind: .return, id: job.text))
        return (anna, bert, job)
    }

    private func expectOneCount(_ laptop: Laptop, _ job: JobID, _ count: Int) async throws {
        let report = try await laptop.service.conflicts(job: job.text)
        #expect(report.edits.count + report.duplicateBarcodes.count == count)
        #expect(try await laptop.service.job(job.text).conflicts == count)
        #expect(try await laptop.service.jobs().map(\.conflicts) == [count])
    }

    @Test("Conflicts of the job's own name and kind are listed, counted alike everywhere, and settled")
    func jobItself() async throws {
        let (anna, bert, job) = try await crew()
        try await anna.send(job, to: bert)
        try await bert.send(job, to: anna)
        try await expectOneCount(anna, job, 2)
        let edits = try await anna.service.conflicts(job: job.text).edits
        #expect(edits.map(\.item) == [ConflictingEdit.jobID, ConflictingEdit.jobID])
        #expect(edits.map(\.itemName) == ["the job itself", "the job itself"])
        #expect(edits.map(\.field) == ["kind", "name"])
        let settled = try await anna.service.settle(
            SettleRequest(item: "job", field: "name", take: "Smith"), job: job.text)
        #expect(settled.value == "Smith" && Set(settled.replaced.map(\.value)) == ["Smith", "Smyth"])
        #expect(try await anna.service.job(job.text).name == "Smith")
        try await expectOneCount(anna, job, 1)
        _ = try await anna.service.settle(SettleRequest(item: "job", field: "kind", take: "bert"), job: job.text)
        #expect(try await anna.service.job(job.text).kind == .return)
        try await expectOneCount(anna, job, 0)
        try await anna.send(job, to: bert)
        try await expectOneCount(bert, job, 0)
        #expect(try await bert.service.job(job.text).name == "Smith")
    }

    @Test("Three values of one field are one conflict, and each can be taken by itself or by its author")
    func threeRivals() async throws {
        let (anna, bert, job) = try await crew()
        let cleo = try await Laptop("cleo")
        let item = ItemID(77)
        for (laptop, room) in [(anna, "Hall"), (bert, "Den"), (cleo, "Attic")] {
            try await laptop.put([("room", room), ("barcode", "1")], item: item, job: job)
        }
        try await bert.send(job, to: anna)
        try await cleo.send(job, to: anna)
        try await expectOneCount(anna, job, 3)
        let details = try await anna.service.item("1", job: job.text)
        let rivals = try #require(details.rivals["room"])
        #expect(rivals.count == 2 && details.rivals.count == 1)
        let all = rivals.map(\.value) + [try #require(details.fields["room"])]
        #expect(Set(all) == ["Hall", "Den", "Attic"])
        #expect(Set(rivals.compactMap(\.byName)).isSubset(of: ["anna", "bert", "cleo"]))
        let refusal = await #expect(throws: APIError.self) {
            try await anna.service.settle(SettleRequest(item: "1", field: "room", take: "Kitchen"), job: job.text)
        }
        #expect(refusal?.code == .unknownRival && refusal?.candidates.count == 3)
        #expect(refusal?.message.contains("'Hall' by anna") == true)
        #expect(refusal?.message.contains("'Attic' by cleo") == true)
        let none = await #expect(throws: APIError.self) {
            try await anna.service.settle(SettleRequest(item: "1", field: "barcode", take: "1"), job: job.text)
        }
        #expect(none?.code == .noConflict)
        let replica = String(bert.store.identity.replica.description.prefix(12))
        let settled = try await anna.service.settle(
            SettleRequest(item: "1", field: "room", take: replica), job: job.text)
        #expect(settled.value == "Den" && settled.replaced.count == 3)
        try await expectOneCount(anna, job, 2)
        #expect(try await anna.service.item("1", job: job.text).rivals.isEmpty)
    }

    @Test("A value counts before an author's name, and two spellings are two rivals")
    func choices() throws {
        func written(_ value: String, by: String, _ name: String?) -> WrittenValue {
            WrittenValue(value: value, at: Timestamp(milliseconds: 0), by: by, byName: name)
        }
        let rivals = Rivals(
            winner: written("Caf\u{E9}", by: "aa11", "anna"),
            losers: [
                written("Cafe\u{301}", by: "aa22", "bert"), written("anna", by: "bb33", nil),
                written("", by: "cc", "cleo"),
            ])
        func value(_ text: String) throws -> [UInt8] { Array(try rivals.value(chosenBy: text, of: "room").utf8) }
        #expect(try value("Cafe\u{301}") == Array("Cafe\u{301}".utf8))
        #expect(try value("Caf\u{E9}") == Array("Caf\u{E9}".utf8))
        #expect(try value("anna") == Array("anna".utf8))
        #expect(try value("AA2") == Array("Cafe\u{301}".utf8))
        #expect(try value("").isEmpty)
        #expect(try value("cleo").isEmpty)
        let refusal = #expect(throws: APIError.self) { try value("aa") }
        #expect(refusal?.message.hasPrefix("'aa' fits 2 rivals of 'room'; take one of ") == true)
    }

    @Test("Where no laptop is connected nobody is said to be in sync")
    func notConnected() async throws {
        let anna = try await Laptop("anna")
        let job = try await anna.service.createJob(CreateJobRequest(name: "Smith")).id
        #expect(try await anna.service.job(job).sync == .notConnected)
        #expect(try await anna.service.status().sync == .notConnected)
        #expect(try await anna.service.check(job: job).comparison == .notConnected)
    }
}
