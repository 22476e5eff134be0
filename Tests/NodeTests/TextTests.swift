import CRDT
import Inventory
import LocalAPI
import Testing

@testable import Node

/// Text that people, scanners and files enter: what is refused, what is kept, what is the same.
@Suite(.timeLimit(.minutes(1)))
struct TextTests {
    private func laptop() async throws -> (Laptop, job: String) {
        let anna = try await Laptop("anna")
        return (anna, try await anna.service.createJob(CreateJobRequest(name: "Smith")).id)
    }

    private static let composed = "Caf\u{E9}"
    private static let decomposed = "Cafe\u{301}"

    @Test("Two spellings of a key are two items of an import, also when it is imported again")
    func keys() async throws {
        let (anna, job) = try await laptop()
        let wanted = [Self.composed, Self.decomposed].map { ["code": $0, "name": "name of \($0)"] }
        let rows = wanted.map { FieldsRequest(fields: $0) }
        let first = try await anna.service.addItems(ItemBatch(key: "code", items: rows), job: job)
        #expect(first.results.map(\.outcome) == [.added, .added])
        let again = try await anna.service.addItems(ItemBatch(key: "code", items: rows), job: job)
        #expect(again.results.map(\.outcome) == [.unchanged, .unchanged])
        #expect(again.results.map(\.id) == first.results.map(\.id))
        let names = Set(try await anna.items(job).compactMap { $0.fields["name"].map { Array($0.utf8) } })
        #expect(names == Set(wanted.compactMap { $0["name"].map { Array($0.utf8) } }))
    }

    @Test("White space around a key is no part of it, and a bad key is the only row that is refused")
    func trimmedKeys() async throws {
        let (anna, job) = try await laptop()
        let rows = ["200091\r", " 200091", "AB\0one", "AB", " "].map {
            FieldsRequest(fields: ["code": $0, "name": "x"])
        }
        let report = try await anna.service.addItems(ItemBatch(key: "code", items: rows), job: job)
        #expect(report.results.map(\.outcome) == [.added, .updated, .rejected, .added, .rejected])
        #expect(report.results[2].reason?.contains("control character") == true)
        let codes = try await anna.items(job).compactMap { $0.fields["code"] }.sorted()
        #expect(codes == ["200091", "AB"])
    }

    @Test("A barcode is trimmed and has no control characters; other text has no NUL")
    func entered() async throws {
        let (anna, job) = try await laptop()
        let id = try await anna.service.addItem(
            FieldsRequest(fields: ["barcode": "200091\r\n", "name": " Sofa\t"]), job: job
        ).id
        #expect(try await anna.service.item(" 200091", job: job).fields == ["barcode": "200091", "name": " Sofa\t"])
        for fields in [["barcode": "AB\0one"], ["barcode": "A\tB"], ["room": "a\0"], ["odd": "\0"]] {
            let refusal = await #expect(throws: APIError.self) {
                try await anna.service.setFields(FieldsRequest(fields: fields), item: id, job: job)
            }
            #expect(refusal?.code == .invalidValue && refusal?.message.contains("leave it out") == true)
        }
        let remark = await #expect(throws: APIError.self) {
            try await anna.service.addNote(NoteRequest(text: "a\0b"), item: id, job: job)
        }
        #expect(remark?.message == "The remark has a NUL character; leave it out.")
        let name = await #expect(throws: APIError.self) {
            try await anna.service.createJob(CreateJobRequest(name: "Smith\nJones"))
        }
        #expect(name?.code == .invalidValue)
    }

    @Test("What came from another device is kept as it is and found by its bytes")
    func fromPeers() async throws {
        let (anna, job) = try await laptop()
        let id = try #require(JobID(job))
        let barcodes = [" 7 ", Self.composed, Self.decomposed]
        for (index, barcode) in barcodes.enumerated() {
            try await anna.put([("barcode", barcode)], item: ItemID(UInt128(100 + index)), job: id)
        }
        for (index, barcode) in barcodes.enumerated() {
            #expect(try await anna.service.item(barcode, job: job).id == ItemID(UInt128(100 + index)).description)
        }
        #expect(try await anna.service.conflicts(job: job).duplicateBarcodes.isEmpty)
    }

    @Test("A job is found by the bytes of its name before another spelling of it")
    func jobNames() async throws {
        let (anna, _) = try await laptop()
        let first = try await anna.service.createJob(CreateJobRequest(name: Self.composed)).id
        #expect(try await anna.service.job(Self.decomposed).id == first, "people type what they see")
        let second = try await anna.service.createJob(CreateJobRequest(name: Self.decomposed)).id
        #expect(try await anna.service.job(Self.composed).id == first)
        #expect(try await anna.service.job(Self.decomposed).id == second)
    }

    @Test("Fields whose names only their spelling tells apart are both shown")
    func fieldNames() async throws {
        let (anna, job) = try await laptop()
        let names = try [Self.composed, Self.decomposed].map { try #require(FieldName($0)) }
        try await anna.put(
            [(names[0], "1"), (names[1], "2")], item: ItemID(9), job: try #require(JobID(job)))
        let fields = try await anna.items(job)[0].fields
        #expect(fields == ["Caf\u{E9}": "2", "Caf%C3%A9": "1"] || fields == ["Cafe\u{301}": "2", "Caf%C3%A9": "1"])
        #expect(fields.count == 2)
    }
}
