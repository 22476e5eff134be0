import Simulation
import Storage
import CRDT
import LocalAPI
import Testing

@testable import Node

/// Many rows at once, and again the next day.
@Suite(.timeLimit(.minutes(1)))
struct ImportServiceTests {
    private func laptop() async throws -> (Laptop, job: String) {
        let anna = try await Laptop("anna")
        return (anna, try await anna.job("Smith", id: "Elm"))
    }

    private func take(
        _ rows: [[String: String]], key: String? = "code", on laptop: Laptop
    ) async throws -> [BatchResult] {
        laptop.machine.pass(milliseconds: 1_000)
        let batch = ItemBatch(key: key, items: rows.map { FieldsRequest(fields: $0) })
        return try await laptop.service.addItems(batch, job: "Elm").results
    }

    @Test("A row adds, updates, or changes nothing, as its key says; a bad one is refused alone")
    func keyed() async throws {
        let (anna, job) = try await laptop()
        let first = try await take([["code": "1", "name": "Sofa"], ["code": "2", "name": "Lamp"]], on: anna)
        #expect(first.map(\.outcome) == [.added, .added])
        let rows = [
            ["code": "1", "name": "Sofa"], ["code": "2", "name": "Lamp", "room": "Den"], ["name": "no key"],
            ["code": "3", "notes": "x"], ["code": "3", "name": "Rug"],
        ]
        let second = try await take(rows, on: anna)
        #expect(second.map(\.outcome) == [.unchanged, .updated, .rejected, .rejected, .added])
        #expect(second[0].id == first[0].id && second[1].id == first[1].id)
        #expect(second[2].reason == "The key 'code' is empty; give it a value." && second[2].id == nil)
        #expect(second[3].reason?.contains("'muster item note'") == true)
        #expect(Set(try await anna.items(job).map { $0.fields["name"] }) == ["Sofa", "Lamp", "Rug"])
        #expect(try await take([rows[0], rows[1], rows[4]], on: anna).allSatisfy { $0.outcome == .unchanged })
        #expect(try await anna.log(job).count == 5, "what changes nothing is not written")
    }

    @Test("Null empties a field of an item that is there, and of a new one it is left out")
    func emptied() async throws {
        let (anna, job) = try await laptop()
        _ = try await take([["code": "1", "room": "Den"]], on: anna)
        let rows = [["code": "1", "room": nil], ["code": "2", "room": nil]].map { FieldsRequest(fields: $0) }
        let results = try await anna.service.addItems(ItemBatch(key: "code", items: rows), job: job).results
        #expect(results.map(\.outcome) == [.updated, .added])
        #expect(try await anna.items(job).map(\.fields) == [["code": "1", "room": ""], ["code": "2"]])
    }

    @Test("Two rows of one key in one batch are one item")
    func twice() async throws {
        let (anna, job) = try await laptop()
        let results = try await take([["code": "1", "name": "Sofa"], ["code": "1", "room": "Den"]], on: anna)
        #expect(results.map(\.outcome) == [.added, .updated] && results[0].id == results[1].id)
        #expect(try await anna.items(job).map(\.fields) == [["code": "1", "name": "Sofa", "room": "Den"]])
    }

    @Test("Without a key every row is another item")
    func keyless() async throws {
        let (anna, job) = try await laptop()
        for _ in 0..<2 { _ = try await take([["name": "Box"], ["name": "Box"]], key: nil, on: anna) }
        #expect(try await anna.items(job).count == 4)
    }

    @Test("More rows than one transaction takes all go in, and each is found again by its key")
    func large() async throws {
        let (anna, job) = try await laptop()
        let rows = (1...1_203).map { ["code": "\($0)", "name": "thing \($0)"] }
        let first = try await take(rows, on: anna)
        #expect(first.allSatisfy { $0.outcome == .added } && Set(first.map(\.id)).count == 1_203)
        #expect(try await anna.service.job(job).items == 1_203)
        let again = try await take(rows.reversed(), on: anna)
        #expect(again.allSatisfy { $0.outcome == .unchanged } && again.map(\.id) == first.map(\.id).reversed())
    }

    @Test("A key that somebody else has brought meanwhile is known, and one that was removed is not")
    func meanwhile() async throws {
        let (anna, job) = try await laptop()
        let bert = try await Laptop("bert")
        try await anna.meet(bert, over: job)
        _ = try await take([["code": "1"]], on: anna)
        let lamp = try await bert.add(["code": "2"], to: job)
        try await anna.meet(bert, over: job)
        let results = try await take([["code": "2", "name": "Lamp"], ["code": "1", "name": "Sofa"]], on: anna)
        #expect(results.map(\.outcome) == [.updated, .updated] && results[0].id == lamp)
        _ = try await anna.service.removeItem(lamp, job: job)
        let anew = try await take([["code": "2", "name": "Lamp"]], on: anna)
        #expect(anew.map(\.outcome) == [.added] && anew[0].id != lamp)
    }

    @Test("A row that is too large for one change is refused, and the others go in")
    func tooLarge() async throws {
        let (anna, job) = try await laptop()
        let long = String(repeating: "x", count: (64 << 10) + 1)
        let results = try await take([["code": "1"], ["code": "2", "name": long], ["code": "3"]], on: anna)
        #expect(results.map(\.outcome) == [.added, .rejected, .added])
        #expect(results[1].reason?.contains("65537 bytes") == true)
        #expect(try await anna.items(job).count == 2)
        #expect(try await take([["code": "2", "name": "short"]], on: anna).map(\.outcome) == [.added])
    }

    @Test("A disk that is full refuses the import, nothing of it is left, and it goes in later")
    func fullDisk() async throws {
        let (anna, job) = try await laptop()
        anna.store.setDiskFull(true)
        let refusal = await #expect(throws: APIError.self) { try await take([["code": "1"]], on: anna) }
        #expect(refusal?.code == .unavailable)
        #expect(try await anna.items(job).isEmpty)
        anna.store.setDiskFull(false)
        #expect(try await take([["code": "1"]], on: anna).map(\.outcome) == [.added])
    }
}
