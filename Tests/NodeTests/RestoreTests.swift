import CRDT
import Inventory
import LocalAPI
import Storage
import Testing

@testable import Node

@Suite("Removed items come back", .timeLimit(.minutes(1)))
struct RestoreTests {
    @Test("A removed item is found by its barcode, and restored to one item however many restore it")
    func once() async throws {
        let (anna, bert) = (try await Laptop("anna"), try await Laptop("bert"))
        let job = try #require(JobID("Elm"))
        _ = try await anna.service.createJob(CreateJobRequest(name: "Elm", kind: .pickup, id: job.text))
        let item = try await anna.service.addItem(
            FieldsRequest(fields: ["barcode": "X2", "name": "vase"]), job: job.text)
        _ = try await anna.service.removeItem(item.id, job: job.text)
        try await anna.send(job, to: bert)
        #expect(try await bert.service.item("X2", job: job.text).isRemoved)
        let restored = try await anna.service.restoreItem("X2", job: job.text)
        #expect(try await bert.service.restoreItem(item.id, job: job.text) == restored)
        await #expect(throws: APIError.self) { try await anna.service.restoreItem(item.id, job: job.text) }
        try await anna.send(job, to: bert)
        try await bert.send(job, to: anna)
        for laptop in [anna, bert] {
            let found = try await laptop.service.item("X2", job: job.text)
            #expect(found.id == restored.id && !found.isRemoved && found.fields["name"] == "vase")
            #expect(try await laptop.service.job(job.text).items == 1)
        }
        // Removed once more, it comes back as yet another.
        _ = try await anna.service.removeItem(restored.id, job: job.text)
        let again = try await anna.service.restoreItem(restored.id, job: job.text)
        #expect(again.id != restored.id && again.id != item.id)
        #expect(try await anna.service.restoreItem(item.id, job: job.text).id != again.id)
    }
}
