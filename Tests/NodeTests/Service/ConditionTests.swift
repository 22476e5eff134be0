import CRDT
import LocalAPI
import LocalAPIServer
import Simulation
import Testing

@testable import Node

/// Writes that are made only if nobody was quicker.
@Suite(.timeLimit(.minutes(1)))
struct ConditionTests {
    private func laptop() async throws -> (Laptop, job: String, item: String) {
        let anna = try await Laptop("anna")
        let job = try await anna.job("Smith", id: "Elm")
        return (anna, job, try await anna.add(["name": "Sofa", "room": "Hall"], to: job))
    }

    private static func of(_ laptop: Laptop, on tag: String?) throws -> InventoryService {
        laptop.service.called(by: LocalCaller(on: .strong([try #require(tag)])))
    }

    private static let writes: [(what: String, make: @Sendable (InventoryService, String) async throws -> Void)] = [
        ("a field", { _ = try await $0.setFields(FieldsRequest(fields: ["room": "Den"]), item: $1, job: "Elm") }),
        ("a note", { _ = try await $0.addNote(NoteRequest(text: "torn"), item: $1, job: "Elm") }),
        ("a removal", { _ = try await $0.removeItem($1, job: "Elm") }),
    ]

    @Test("An item is written as it was seen; who was slower writes nothing", arguments: writes.indices)
    func item(index: Int) async throws {
        let (anna, job, item) = try await laptop()
        let seen = try await anna.service.item(item, job: job).entityTag
        try await anna.set(["room": "Attic"], of: item, in: job)
        let before = try await anna.service.item(item, job: job)
        let refusal = await #expect(throws: APIError.self) {
            try await Self.writes[index].make(Self.of(anna, on: seen), item)
        }
        #expect(refusal?.code == .preconditionFailed && refusal?.code.status == 412)
        #expect(try await anna.service.item(item, job: job) == before)
        try await Self.writes[index].make(Self.of(anna, on: before.entityTag), item)
        #expect(try await anna.service.item(item, job: job) != before)
    }

    @Test("The tag that a write answers is that of the item as it is then")
    func chained() async throws {
        let (anna, job, item) = try await laptop()
        let first = try await anna.service.setFields(FieldsRequest(fields: ["room": "Den"]), item: item, job: job)
        #expect(try await anna.service.item(item, job: job).entityTag == first.entityTag)
        let note = NoteRequest(text: "torn")
        let second = try await Self.of(anna, on: first.entityTag).addNote(note, item: item, job: job)
        #expect(second.entityTag != first.entityTag)
        #expect(try await anna.service.item(item, job: job).entityTag == second.entityTag)
        let added = try await anna.service.addItem(FieldsRequest(fields: ["name": "Rug"]), job: job)
        #expect(try await anna.service.item(added.id, job: job).entityTag == added.entityTag)
    }

    @Test("What another laptop wrote without being seen changes the tag, also where it has lost")
    func rival() async throws {
        let (anna, job, item) = try await laptop()
        let bert = try await Laptop("bert")
        try await anna.meet(bert, over: job)
        try await bert.set(["room": "Den"], of: item, in: job)
        try await anna.set(["room": "Attic"], of: item, in: job)
        anna.machine.pass(milliseconds: 5_000)
        try await anna.set(["room": "Loft"], of: item, in: job)
        let seen = try await anna.service.item(item, job: job)
        try await bert.meet(anna, over: job)
        let now = try await anna.service.item(item, job: job)
        #expect(now.fields == seen.fields && now.rivals["room"]?.map(\.value) == ["Den"])
        #expect(now.entityTag != seen.entityTag)
        #expect(try await bert.service.item(item, job: job).entityTag == now.entityTag, "equal items, equal tags")
    }

    private static let decisions: [@Sendable (InventoryService) async throws -> Void] = [
        { _ = try await $0.removeJob("Elm", isConfirmed: true) },
        { _ = try await $0.removeItems(RemovalRequest(matching: ["room": "Hall"]), job: "Elm") },
        { _ = try await $0.advance(AdvanceRequest(state: "dispatched"), job: "Elm") },
    ]

    @Test(
        "A job ends, and asks for something, only as it was seen with all that is in it", arguments: decisions.indices)
    func job(index: Int) async throws {
        let (anna, job, item) = try await laptop()
        let seen = try await anna.service.job(job, makesDigest: false).entityTag
        #expect(try await anna.service.job(job, makesDigest: true).entityTag == seen, "nothing has changed")
        _ = try await anna.service.addNote(NoteRequest(text: "torn"), item: item, job: job)
        let refusal = await #expect(throws: APIError.self) {
            try await Self.decisions[index](Self.of(anna, on: seen))
        }
        #expect(refusal?.code == .preconditionFailed)
        #expect(try await anna.items(job).count == 1)
        #expect(try await anna.service.queue().isEmpty)
        let now = try await anna.service.job(job, makesDigest: false).entityTag
        try await Self.decisions[index](Self.of(anna, on: now))
        #expect(try await anna.service.job(job, makesDigest: false).entityTag != now)
    }

    @Test("A list of tags is read as it stands, and a weak one fits nothing")
    func parsed() throws {
        #expect(try EntityTagCondition(parsing: " * ") == .any)
        #expect(try EntityTagCondition(parsing: #""a1", W/"b2" ,"c3""#) == .strong(["a1", "c3"]))
        for text in ["a1", #""a1"#, #"w/"a1""#, #""a1" "b2""#, #"*, "a1""#] {
            #expect(throws: APIError.self, "\(text)") { _ = try EntityTagCondition(parsing: text) }
        }
    }
}
