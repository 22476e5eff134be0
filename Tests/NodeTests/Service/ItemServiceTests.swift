import LocalAPIServer
import Simulation
import Storage
import CRDT
import HTTPCoding
import LocalAPI
import Testing

@testable import Node

/// Single items, from the label to the tombstone.
@Suite(.timeLimit(.minutes(1)))
struct ItemServiceTests {
    private func laptop() async throws -> (Laptop, job: String) {
        let anna = try await Laptop("anna")
        return (anna, try await anna.job("Smith", id: "Elm"))
    }

    @Test("An item shows its fields, who wrote each, and when")
    func shown() async throws {
        let (anna, job) = try await laptop()
        let id = try await anna.add(["name": "Sofa", "room": "Hall"], to: job)
        try await anna.set(["room": "Den"], of: id, in: job)
        let item = try await anna.service.item(id, job: job)
        #expect(item.fields == ["name": "Sofa", "room": "Den"] && !item.isRemoved && item.replaces == nil)
        let (first, second) = (Laptop.moment.milliseconds + 1_000, Laptop.moment.milliseconds + 2_000)
        #expect(item.fieldHistory["name"]?.at == Timestamp(milliseconds: first))
        #expect(item.fieldHistory["room"]?.at == Timestamp(milliseconds: second))
        #expect(item.updatedAt == Timestamp(milliseconds: second) && item.updatedByName == "anna")
        #expect(item.updatedBy == anna.store.identity.replica.description && item.rivals.isEmpty)
    }

    @Test("A field that is emptied has the empty value, on every laptop, and an edit that did not see it is its rival")
    func emptied() async throws {
        let (anna, job) = try await laptop()
        let bert = try await Laptop("bert")
        let id = try await anna.add(["barcode": "7", "name": "Sofa", "room": "Hall"], to: job)
        try await anna.meet(bert, over: job)
        try await bert.set(["room": "Den"], of: id, in: job)
        anna.machine.pass(milliseconds: 2_000)
        let emptied = FieldsRequest(fields: ["room": nil, "barcode": nil])
        _ = try await anna.service.setFields(emptied, item: id, job: job)
        try await anna.meet(bert, over: job)
        let elm = try #require(JobID(job))
        for laptop in [anna, bert] {
            let item = try await laptop.service.item(id, job: job)
            #expect(item.fields == ["barcode": "", "name": "Sofa", "room": ""])
            #expect(item.rivals["room"]?.map(\.value) == ["Den"])
            await #expect(throws: APIError.self) { _ = try await laptop.service.item("7", job: job) }
        }
        #expect(try await anna.exported(elm, .json) == bert.exported(elm, .json))
    }

    @Test("A new item has no field to empty")
    func nothingToEmpty() async throws {
        let (anna, job) = try await laptop()
        let request = FieldsRequest(fields: ["name": "Sofa", "room": nil])
        let id = try await anna.service.addItem(request, job: job).id
        #expect(try await anna.service.item(id, job: job).fields == ["name": "Sofa"])
        let refusal = await #expect(throws: APIError.self) {
            _ = try await anna.service.addItem(FieldsRequest(fields: ["room": nil]), job: job)
        }
        #expect(refusal?.code == .invalidValue)
    }

    static let names: [(text: @Sendable (String) -> String, what: String)] = [
        ({ $0 }, "its id"), ({ $0.uppercased() }, "its id in capitals"), ({ String($0.prefix(18)) }, "a prefix"),
        ({ String($0.filter { $0 != "-" }.prefix(16)) }, "a prefix without dashes"), ({ _ in "200091" }, "its barcode"),
        ({ _ in " 200091\r" }, "its barcode as a scanner sends it"), ({ _ in "cafe" }, "a barcode like a prefix"),
    ]

    @Test("Every command finds an item by whatever names it", arguments: names.indices)
    func named(index: Int) async throws {
        let (anna, job) = try await laptop()
        let id = try await anna.add(["barcode": index == 6 ? "cafe" : "200091"], to: job)
        anna.machine.pass(milliseconds: 1 << 32)
        _ = try await anna.add(["barcode": "200092"], to: job)
        let text = Self.names[index].text(id)
        #expect(try await anna.service.item(text, job: job).id == id, "\(Self.names[index].what)")
        let fields = FieldsRequest(fields: ["name": "Sofa"])
        #expect(try await anna.service.setFields(fields, item: text, job: job).id == id)
        #expect(try await anna.service.addNote(NoteRequest(text: "torn"), item: text, job: job).id == id)
        #expect(try await anna.service.removeItem(text, job: job).id == id)
        #expect(try await anna.service.item(id, job: job).isRemoved)
    }

    @Test("A barcode that may as well be the id that a list shows of another item names neither")
    func barcodeLikeID() async throws {
        let (anna, job) = try await laptop()
        let piano = try await anna.add(["name": "Piano"], to: job)
        // With a letter in it, as short ids have.
        let end = try #require((6...32).map { String(piano.suffix($0)) }.first { $0.contains(where: \.isLetter) })
        let lamp = try await anna.add(["name": "Lamp", "barcode": end], to: job)
        let refusal = await #expect(throws: APIError.self) { try await anna.set(["room": "Den"], of: end, in: job) }
        #expect(refusal?.code == .ambiguousItem && Set(refusal?.candidates ?? []) == [lamp, piano])
        try await anna.set(["room": "Den"], of: piano, in: job)
    }

    @Test("A barcode or a prefix of two items names both, and no command takes one of them by chance")
    func ambiguous() async throws {
        let (anna, job) = try await laptop()
        let lamp = try await anna.add(["barcode": "7", "name": "Lamp"], to: job)
        let ids = [
            lamp, try await anna.add(["barcode": "7"], to: job),
        ].sorted()
        for text in ["7", String(ids[0].prefix(8))] {
            let refusal = await #expect(throws: APIError.self) {
                try await anna.set(["room": "Den"], of: text, in: job)
            }
            #expect(refusal?.code == .ambiguousItem && refusal?.candidates.sorted() == ids)
            let message = refusal?.message ?? ""
            #expect(ids.allSatisfy(message.contains) && message.contains("(Lamp)"))
        }
        let names = [lamp == ids[0] ? "Lamp" : nil, lamp == ids[1] ? "Lamp" : nil]
        #expect(
            try await anna.service.conflicts(job: job).duplicateBarcodes == [
                LocalAPI.DuplicateBarcode(barcode: "7", items: ids, itemNames: names)
            ])
        #expect(try await anna.items(job).allSatisfy { $0.fields["room"] == nil })
    }

    @Test("Remarks only grow, in the order in which they were made, and no field replaces them")
    func remarks() async throws {
        let (anna, job) = try await laptop()
        let id = try await anna.add(["name": "Sofa"], to: job)
        for text in ["scratched", "torn", "scratched"] {
            anna.machine.pass(milliseconds: 1)
            _ = try await anna.service.addNote(NoteRequest(text: text), item: id, job: job)
        }
        let refusal = await #expect(throws: APIError.self) { try await anna.set(["notes": "new"], of: id, in: job) }
        #expect(refusal?.code == .invalidValue && refusal?.message.contains("'muster item note'") == true)
        let item = try await anna.service.item(id, job: job)
        #expect(item.notes == ["scratched", "torn", "scratched"])
        #expect(item.remarks.map(\.at) == item.remarks.map(\.at).sorted())
    }

    @Test("A removed item is told with what it was, is in no list, and takes no more changes")
    func removed() async throws {
        let (anna, job) = try await laptop()
        let id = try await anna.add(["name": "Vase", "barcode": "7"], to: job)
        _ = try await anna.service.removeItem(id, job: job)
        let item = try await anna.service.item("7", job: job)
        #expect(item.isRemoved && item.fields["name"] == "Vase")
        #expect(try await anna.items(job).isEmpty)
        let changes: [() async throws -> Void] = [
            { try await anna.set(["room": "Den"], of: id, in: job) },
            { _ = try await anna.service.addNote(NoteRequest(text: "x"), item: id, job: job) },
            { _ = try await anna.service.removeItem(id, job: job) },
        ]
        for change in changes {
            let refusal = await #expect(throws: APIError.self) { try await change() }
            #expect(refusal?.code == .itemRemoved && refusal?.message.contains("restore") == true)
        }
    }

    @Test("What comes back has the fields and remarks of the removed one, names it, and it stays removed")
    func restored() async throws {
        let (anna, job) = try await laptop()
        // More than the restore puts into one change.
        var fields = ["name": "Vase", "barcode": "7"]
        for number in 1...20 { fields["field \(number)"] = "\(number)" }
        let id = try await anna.add(fields, to: job)
        _ = try await anna.service.addNote(NoteRequest(text: "fragile"), item: id, job: job)
        _ = try await anna.service.removeItem(id, job: job)
        let restored = try await anna.service.restoreItem("7", job: job)
        #expect(restored.replaces == id && restored.id != id)
        let item = try await anna.service.item("7", job: job)
        fields["replaces"] = id
        #expect(item.id == restored.id && item.fields == fields && item.notes == ["fragile"] && item.replaces == id)
        #expect(try await anna.service.item(id, job: job).isRemoved)
    }

    @Test("A set that crosses a removal does not bring the item back")
    func crossed() async throws {
        let (anna, bert) = (try await Laptop("anna"), try await Laptop("bert"))
        _ = try await anna.job("Smith", id: "Elm")
        let id = try await anna.add(["name": "Vase"], to: "Elm")
        try await anna.meet(bert, over: "Elm")
        _ = try await anna.service.removeItem(id, job: "Elm")
        bert.machine.pass(milliseconds: 60_000)
        try await bert.set(["room": "Den"], of: id, in: "Elm")
        try await anna.meet(bert, over: "Elm")
        for laptop in [anna, bert] {
            #expect(try await laptop.service.item(id, job: "Elm").isRemoved)
            #expect(try await laptop.service.job("Elm").items == 0)
        }
    }

    static let filters: [(fields: [String: String], found: [String])] = [
        ([:], ["Sofa", "Lamp", "Rug"]), (["room": "Den"], ["Sofa", "Lamp"]), (["room": "den"], []),
        (["room": "Den", "condition": "good"], ["Lamp"]), (["condition": ""], ["Sofa", "Rug"]), (["colour": "red"], []),
    ]

    @Test("A list has the items whose fields are exactly what is asked for, by id", arguments: filters)
    func listed(fields: [String: String], found: [String]) async throws {
        let (anna, job) = try await laptop()
        _ = try await anna.add(["name": "Sofa", "room": "Den"], to: job)
        _ = try await anna.add(["name": "Lamp", "room": "Den", "condition": "good"], to: job)
        _ = try await anna.add(["name": "Rug", "condition": ""], to: job)
        let gone = try await anna.add(["name": "Vase", "room": "Den"], to: job)
        _ = try await anna.service.removeItem(gone, job: job)
        let items = try await anna.items(job, where: fields)
        #expect(items.compactMap { $0.fields["name"] } == found)
        #expect(items.map(\.id) == items.map(\.id).sorted())
    }

    @Test("Many items go at once, by their names or by what they have in common, and all or none")
    func removedTogether() async throws {
        let (anna, job) = try await laptop()
        var ids: [String] = []
        for number in 1...5 {
            ids.append(try await anna.add(["barcode": "\(number)", "room": number < 4 ? "Den" : "Hall"], to: job))
        }
        let unknown = await #expect(throws: APIError.self) {
            try await anna.service.removeItems(RemovalRequest(items: ["1", "9"]), job: job)
        }
        #expect(unknown?.code == .unknownItem)
        #expect(try await anna.items(job).count == 5)
        let named = try await anna.service.removeItems(RemovalRequest(items: ["5", ids[3], "4"]), job: job)
        #expect(named.removed == [ids[3], ids[4]])
        let matching = RemovalRequest(matching: ["room": "Den"])
        #expect(try await anna.service.removeItems(matching, job: job).removed == Array(ids[..<3]))
        #expect(try await anna.service.removeItems(matching, job: job).removed.isEmpty)
        #expect(try await anna.service.job(job).removed == 5)
    }

    @Test("Items without a field are removed by its name, and by a mistyped one none are")
    func removesWithout() async throws {
        let (anna, job) = try await laptop()
        _ = try await anna.add(["name": "Sofa", "room": "Den"], to: job)
        let lamp = try await anna.add(["name": "Lamp"], to: job)
        let problem = await #expect(throws: APIError.self) {
            try await anna.service.removeItems(RemovalRequest(matching: ["rom": ""]), job: job)
        }
        #expect(problem?.message.contains("'rom'") == true)
        let removed = try await anna.service.removeItems(RemovalRequest(matching: ["room": ""]), job: job)
        #expect(removed.removed == [lamp])
    }

    @Test("More than half of a job, and twenty or more, go only when that is meant", arguments: [19, 20])
    func confirmed(count: Int) async throws {
        let (anna, job) = try await laptop()
        let rows = (1...count).map { FieldsRequest(fields: ["barcode": "\($0)", "room": "Den"]) }
        _ = try await anna.service.addItems(ItemBatch(items: rows), job: job)
        if count >= 20 {
            let refusal = await #expect(throws: APIError.self) {
                try await anna.service.removeItems(RemovalRequest(matching: ["room": "Den"]), job: job)
            }
            #expect(refusal?.code == .confirmationNeeded)
            #expect(try await anna.service.job(job).items == count)
        }
        let removal = RemovalRequest(matching: ["room": "Den"], isConfirmed: count >= 20)
        #expect(try await anna.service.removeItems(removal, job: job).removed.count == count)
    }

    @Test("What is listed from where it is stored is what an element of the list is, in the same bytes")
    func listed() async throws {
        let (anna, job) = try await laptop()
        let bert = try await Laptop("bert")
        let id = try #require(JobID(job))
        let sofa = try await anna.add(["name": "Sofa \"2\"\\\t\u{1}/", "room": "D\u{E9}n"], to: job)
        _ = try await anna.add(["barcode": "7", "name": ""], to: job)
        try await anna.put([("Caf\u{E9}", "1"), ("Cafe\u{301}", "2"), ("a", "3")], item: ItemID(9), job: id)
        _ = try await anna.service.addNote(NoteRequest(text: "torn\nleft"), item: sofa, job: job)
        try await anna.meet(bert, over: job)
        try await anna.set(["room": "Hall"], of: sofa, in: job)
        try await bert.set(["room": "Attic", "quantity": "2"], of: sofa, in: job)
        _ = try await bert.service.removeItem(try await bert.add(["name": "gone"], to: job), job: job)
        try await anna.meet(bert, over: job)
        let stored = try await anna.store.job(id)
        let expected = try await anna.store.items(job: id, limit: .max).filter { $0.state.removed == nil }
            .map { try JSON.encode(ItemView($0, in: stored)) }
        #expect(expected.count == 3)
        var bytes: [UInt8] = []
        for try await piece in try await anna.service.items(job: job, matching: [], as: .lines) { bytes += piece }
        #expect(bytes.split(separator: UInt8(ascii: "\n")).map(Array.init) == expected)
        #expect(try await anna.items(job, where: ["room": "Hall"]).count == 1)
        // Emptied or never had is the same.
        let unnamed = try await anna.items(job, where: ["name": ""])
        #expect(Set(unnamed.map { $0.fields["name"] }) == [nil, ""] && unnamed.count == 2)
        #expect(try await anna.items(job, where: ["nothing": ""]).count == 3)
        #expect(try await anna.items(job, where: ["nothing": "x"]).isEmpty)
    }
}
