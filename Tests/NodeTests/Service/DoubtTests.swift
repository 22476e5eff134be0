import CRDT
import LocalAPI
import LocalAPIServer
import Testing

@testable import Node

/// What is hardly meant is asked for twice: where it is entered, and there only.
@Suite(.timeLimit(.minutes(1)))
struct DoubtTests {
    private static let odd = ["quantity": "abc"]

    private func laptop() async throws -> (Laptop, job: String, sofa: String) {
        let anna = try await Laptop("anna")
        let job = try await anna.job("Smith", id: "Elm")
        return (anna, job, try await anna.add(["name": "Sofa", "quantity": "2"], to: job))
    }

    private func refusal(_ body: () async throws -> Void) async -> APIError? {
        await #expect(throws: APIError.self) { try await body() }
    }

    @Test("A new item, fields of one and a row of an import are refused, with what may be meant; nothing is changed")
    func refused() async throws {
        let (anna, job, sofa) = try await laptop()
        let added = await refusal { _ = try await anna.add(["category": "sofa-3-set"], to: job) }
        #expect(added?.code == .doubtfulValue && added?.candidates == ["sofa-3-seat"])
        let set = await refusal { try await anna.set(["room": "Den", "quantiy": "3"], of: sofa, in: job) }
        #expect(set?.code == .doubtfulValue && set?.candidates == ["quantity"])
        let rows = [["name": "Rug"], Self.odd, ["name": "Lamp", "condtion": "good"]].map { FieldsRequest(fields: $0) }
        let results = try await anna.service.addItems(ItemBatch(items: rows), job: job).results
        #expect(results.map(\.outcome) == [.added, .rejected, .rejected])
        #expect(results[1].reason?.contains("not 'abc'") == true)
        let items = try await anna.items(job).map(\.fields)
        #expect(Set(items) == [["name": "Sofa", "quantity": "2"], ["name": "Rug"]])
    }

    @Test("Whoever says that it is meant is believed")
    func forced() async throws {
        let (anna, job, sofa) = try await laptop()
        let forcing = anna.service.called(by: LocalCaller(isForcing: true))
        _ = try await forcing.addItem(FieldsRequest(fields: Self.odd), job: job)
        _ = try await forcing.setFields(FieldsRequest(fields: ["quantiy": "-3"]), item: sofa, job: job)
        let rows = [FieldsRequest(fields: ["category": "spaceship"])]
        let results = try await forcing.addItems(ItemBatch(items: rows), job: job).results
        #expect(results.map(\.outcome) == [.added])
        #expect(try await anna.items(job).count == 3)
    }

    @Test("An item that is sent back as it is is taken, and so is one that a colleague has written so")
    func known() async throws {
        let (anna, job, sofa) = try await laptop()
        let id = try #require(ItemID(sofa)), jobID = try #require(JobID(job))
        try await anna.put([("quantity", "many"), ("nmae", "x")], item: id, job: jobID)
        try await anna.set(["quantity": "many", "nmae": "y", "room": "Den"], of: sofa, in: job)
        #expect(try await anna.service.item(sofa, job: job).fields["nmae"] == "y")
        let other = await refusal { try await anna.set(["quantity": "more"], of: sofa, in: job) }
        #expect(other?.code == .doubtfulValue)
        try await anna.set(["quantity": "", "nmae": ""], of: sofa, in: job)
        #expect(
            try await anna.items(job).map(\.fields) == [["name": "Sofa", "quantity": "", "nmae": "", "room": "Den"]])
    }

    @Test("A keyed row updates an item that has an odd value already, and brings in no other")
    func keyedRows() async throws {
        let (anna, job, sofa) = try await laptop()
        let id = try #require(ItemID(sofa)), jobID = try #require(JobID(job))
        try await anna.put([("quantity", "many")], item: id, job: jobID)
        let rows = ["many", "more"].map { FieldsRequest(fields: ["name": "Sofa", "quantity": $0, "room": "Den"]) }
        let results = try await anna.service.addItems(ItemBatch(key: "name", items: rows), job: job).results
        #expect(results.map(\.outcome) == [.updated, .rejected])
    }

    @Test("An item that is not there, or not any more, is told as that first")
    func gone() async throws {
        let (anna, job, sofa) = try await laptop()
        _ = try await anna.service.removeItem(sofa, job: job)
        #expect(await refusal { try await anna.set(Self.odd, of: sofa, in: job) }?.code == .itemRemoved)
        let unknown = ItemID(99).description
        #expect(await refusal { try await anna.set(Self.odd, of: unknown, in: job) }?.code == .unknownItem)
    }

    @Test("What another laptop has written is never refused")
    func received() async throws {
        let (anna, job, sofa) = try await laptop()
        let bert = try await Laptop("bert")
        try await anna.put(
            [("quantity", "abc"), ("category", "spaceship"), ("quantiy", "-3")], item: try #require(ItemID(sofa)),
            job: try #require(JobID(job)))
        try await anna.meet(bert, over: job)
        #expect(try await bert.items(job).first?.fields["category"] == "spaceship")
    }
}

/// Rows that come with the ids that they get.
@Suite(.timeLimit(.minutes(1)))
struct ChosenIDTests {
    private static let ids = (1...4).map { ItemID(UInt128($0) << 100).description }

    private func take(_ laptop: Laptop, _ rows: [(String?, String)], key: String? = nil) async throws -> [BatchResult] {
        let batch = ItemBatch(key: key, items: rows.map { BatchItem(id: $0.0, fields: ["name": $0.1]) })
        return try await laptop.service.addItems(batch, job: "Elm").results
    }

    @Test("A batch that comes again, from whatever laptop, adds nothing; what was edited or removed since stays so")
    func again() async throws {
        let (anna, bert) = (try await Laptop("anna"), try await Laptop("bert"))
        let job = try await anna.job("Smith", id: "Elm")
        let rows: [(String?, String)] = [
            (Self.ids[0], "Sofa"), (Self.ids[1], "Lamp"), (Self.ids[2], "Rug"), (nil, "Box"),
        ]
        let first = try await take(anna, rows)
        #expect(first.map(\.outcome) == [.added, .added, .added, .added])
        #expect(first.prefix(3).compactMap(\.id) == Array(Self.ids.prefix(3)))
        try await anna.set(["name": "Desk lamp"], of: Self.ids[1], in: job)
        _ = try await anna.service.removeItem(Self.ids[2], job: job)
        try await anna.meet(bert, over: job)
        let again = try await take(bert, Array(rows.prefix(3)))
        #expect(again.map(\.outcome) == [.unchanged, .unchanged, .removed])
        #expect(again.compactMap(\.id) == Array(Self.ids.prefix(3)))
        #expect(Set(try await bert.items(job).compactMap { $0.fields["name"] }) == ["Sofa", "Desk lamp", "Box"])
    }

    @Test("Two laptops that take the same batch apart have its items once, and no conflict")
    func apart() async throws {
        let (anna, bert) = (try await Laptop("anna"), try await Laptop("bert"))
        let job = try await anna.job("Smith", id: "Elm")
        try await anna.meet(bert, over: job)
        for laptop in [anna, bert] {
            #expect(try await take(laptop, [(Self.ids[0], "Sofa")]).map(\.outcome) == [.added])
        }
        try await anna.meet(bert, over: job)
        #expect(try await anna.items(job) == bert.items(job))
        #expect(try await anna.items(job).count == 1)
    }

    @Test("One id twice in a batch is one item; what is no id is refused alone, and a key and ids altogether")
    func odd() async throws {
        let anna = try await Laptop("anna")
        let job = try await anna.job("Smith", id: "Elm")
        let results = try await take(
            anna, [(Self.ids[0], "Sofa"), (Self.ids[0], "Lamp"), ("x", "Rug"), (ItemID.job.description, "Job")])
        #expect(results.map(\.outcome) == [.added, .unchanged, .rejected, .rejected])
        #expect(try await anna.items(job).map { $0.fields["name"] } == ["Sofa"])
        let refusal = await #expect(throws: APIError.self) {
            try await take(anna, [(Self.ids[1], "Rug")], key: "name")
        }
        #expect(refusal?.code == .invalidValue)
    }
}
