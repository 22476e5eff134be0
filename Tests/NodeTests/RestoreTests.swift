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
        let vector = try await anna.store.vector(of: job)
        for name in ["X2", item.id, String(item.id.prefix(18)), restored.id] {
            let again = try await anna.service.restoreItem(name, job: job.text)
            #expect(again == Restored(id: restored.id, replaces: item.id, isNew: false))
        }
        #expect(try await anna.store.vector(of: job) == vector, "nothing is written for what is back already")
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
        for name in ["X2", item.id, restored.id] {
            let told = try await anna.service.restoreItem(name, job: job.text)
            #expect(told == Restored(id: again.id, replaces: restored.id, isNew: false), "there is one of it")
        }
    }

    @Test("Several removed items with one barcode are told apart, and one that is back leaves it to the other")
    func shared() async throws {
        let anna = try await Laptop("anna")
        let job = try await anna.job("Elm")
        var gone: [String] = []
        for name in ["vase", "jug"] { gone.append(try await anna.add(["barcode": "X2", "name": name], to: job)) }
        let living = try await anna.add(["barcode": "X2", "name": "cup"], to: job)
        let removed = try await anna.service.removeItems(RemovalRequest(items: gone), job: job)
        #expect(removed.items.map(\.reference) == gone, "no barcode that another one has")
        #expect(removed.items.map(\.name) == ["vase", "jug"])
        let refusal = await #expect(throws: APIError.self) { try await anna.service.restoreItem("X2", job: job) }
        #expect(refusal?.code == .ambiguousItem && refusal?.candidates == gone)
        for words in gone + ["vase", "jug", "removed on 2026-08-01"] {
            #expect(refusal?.message.contains(words) == true)
        }
        #expect(try await anna.service.restoreItem(gone[0], job: job).isNew)
        let other = try await anna.service.restoreItem("X2", job: job)
        #expect(other.isNew && other.replaces == gone[1])
        let never = await #expect(throws: APIError.self) { try await anna.service.restoreItem(living, job: job) }
        #expect(never?.code == .itemNotRemoved)
    }

    @Test("What is about to be removed is told, and nothing is changed")
    func preview() async throws {
        let anna = try await Laptop("anna")
        let job = try await anna.job("Elm")
        let vase = try await anna.add(["barcode": "X2", "name": "vase", "room": "Den"], to: job)
        let told = try await anna.service.previewRemoval(RemovalRequest(matching: ["room": "Den"]), job: job)
        let item = RemovedItem(id: vase, name: "vase", barcode: "X2", reference: "X2")
        #expect(told == Removed(removed: [vase], items: [item]))
        #expect(try await anna.items(job).count == 1)
        #expect(try await anna.service.removeItems(RemovalRequest(items: ["X2"]), job: job) == told)
    }

    @Test("Six who restore an item at the same time make one of it, with each remark once, and one of them has made it")
    func together() async throws {
        let anna = try await Laptop("anna")
        let job = try await anna.job("Elm")
        let vase = try await anna.add(["barcode": "X2", "name": "vase"], to: job)
        _ = try await anna.service.addNote(NoteRequest(text: "chipped"), item: vase, job: job)
        _ = try await anna.service.removeItem(vase, job: job)
        let restored = try await withThrowingTaskGroup(of: Restored.self) { group in
            for _ in 0..<6 { group.addTask { try await anna.service.restoreItem(vase, job: job) } }
            return try await group.reduce(into: [Restored]()) { $0.append($1) }
        }
        #expect(restored.count { $0.isNew } == 1 && Set(restored.map(\.id)).count == 1)
        let item = try await anna.service.item(restored[0].id, job: job)
        #expect(item.notes == ["chipped"] && item.fields["name"] == "vase")
    }

    @Test("A part of an id is looked for among the removed items, and one that several have chooses none")
    func abbreviated() async throws {
        let anna = try await Laptop("anna")
        let job = try await anna.job("Elm")
        // Ids of one moment begin alike.
        let rows = (1...20).map { FieldsRequest(fields: ["name": "box \($0)"]) }
        let items = try await anna.service.addItems(ItemBatch(items: rows), job: job).results.compactMap(\.id)
        let gone = [items[4], items[14]]
        let beginning = String(gone[1].prefix(while: { _ in true }).prefix(8))
        #expect(items.count == 20 && items.allSatisfy { $0.hasPrefix(beginning) })
        _ = try await anna.service.removeItems(RemovalRequest(items: gone), job: job)
        let refusal = await #expect(throws: APIError.self) { try await anna.service.restoreItem(beginning, job: job) }
        #expect(refusal?.code == .ambiguousItem && Set(refusal?.candidates ?? []) == Set(gone))
        _ = try await anna.service.restoreItem(gone[0], job: job)
        let again = await #expect(throws: APIError.self) { try await anna.service.restoreItem(beginning, job: job) }
        #expect(again?.code == .ambiguousItem, "it may be meant for the one that is back")
    }

    @Test("The barcode of a living item is no part of a removed one's id")
    func barcodeFirst() async throws {
        let anna = try await Laptop("anna")
        let job = try await anna.job("Elm")
        let gone = try await anna.add(["name": "jug"], to: job)
        _ = try await anna.add(["barcode": String(gone.suffix(4)), "name": "cup"], to: job)
        _ = try await anna.service.removeItem(gone, job: job)
        let refusal = await #expect(throws: APIError.self) {
            try await anna.service.restoreItem(String(gone.suffix(4)), job: job)
        }
        #expect(refusal?.code == .itemNotRemoved && refusal?.message.contains("'cup'") == true)
        #expect(try await anna.service.restoreItem(String(gone.suffix(6)), job: job).isNew)
    }

    @Test("A preview names each of two items of one barcode by its id")
    func previewOfTwins() async throws {
        let anna = try await Laptop("anna")
        let job = try await anna.job("Elm")
        var twins: [String] = []
        for name in ["vase", "jug"] { twins.append(try await anna.add(["barcode": "X2", "name": name], to: job)) }
        let told = try await anna.service.previewRemoval(RemovalRequest(items: twins), job: job)
        #expect(told.items.map(\.reference) == told.removed && told.items.map(\.barcode) == ["X2", "X2"])
    }

    @Test("A field 'replaces' that somebody wrote leads nowhere")
    func writtenByHand() async throws {
        let anna = try await Laptop("anna")
        let job = try await anna.job("Elm")
        let jug = try await anna.add(["name": "jug"], to: job)
        let vase = try await anna.add(["name": "vase", "replaces": jug], to: job)
        for item in [jug, vase] { _ = try await anna.service.removeItem(item, job: job) }
        let back = [
            try await anna.service.restoreItem(jug, job: job), try await anna.service.restoreItem(vase, job: job),
        ]
        #expect(back.map(\.isNew) == [true, true] && back.map(\.replaces) == [jug, vase])
    }
}
