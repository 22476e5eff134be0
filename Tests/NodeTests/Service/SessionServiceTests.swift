import CRDT
import LocalAPI
import LocalAPIServer
import Storage
import Testing

@testable import Node

@Suite("Who has a session stands beside what is written through the local API", .timeLimit(.minutes(1)))
struct SessionServiceTests {
    private func begin(_ name: String, _ service: InventoryService) async throws -> SessionReport {
        try await service.beginSession(BeginSessionRequest(name: name, isNew: true))
    }

    @Test("Each user of the machine has a session of their own, and every kind of change names whoever has one")
    func everyChange() async throws {
        let anna = try await Laptop("anna")
        let job = try await anna.job("Smith")
        let ann = anna.service.called(by: LocalCaller(user: 1_000))
        let bob = anna.service.called(by: LocalCaller(user: 1))
        #expect(try await begin("Ann", ann).session?.name == "Ann")
        #expect(try await begin("Bob", bob).session?.name == "Bob")
        #expect(try await ann.sessionReport().session?.name == "Ann")
        #expect(try await ann.status().session?.name == "Ann")
        #expect(try await anna.service.status().session == nil)
        #expect(try await ann.crew().sessions.map { "\($0.user) \($0.session.name)" } == ["1 Bob", "1000 Ann"])

        let sofa = try await ann.addItem(FieldsRequest(fields: ["name": "Sofa"]), job: job).id
        _ = try await bob.setFields(FieldsRequest(fields: ["room": "Hall"]), item: sofa, job: job)
        _ = try await ann.addNote(NoteRequest(text: "worn"), item: sofa, job: job)
        _ = try await bob.addItems(ItemBatch(key: nil, items: [FieldsRequest(fields: ["name": "Lamp"])]), job: job)
        let asked = try await ann.advance(AdvanceRequest(state: "dispatched"), job: job).tokens
        _ = try await bob.drop(asked[asked.count - 1])
        _ = try await ann.removeItem(sofa, job: job)
        let restored = try await bob.restoreItem(sofa, job: job).id
        _ = try await ann.removeItems(RemovalRequest(items: [restored]), job: job)
        let expected = ["Ann", "Bob", "Ann", "Bob", "Ann", "Bob", "Ann", "Bob", "Bob", "Ann"]
        let log = try await anna.log(job)
        #expect(log.first?.person == nil && log.dropFirst().compactMap(\.person) == expected, "\(log.map(\.person))")
        #expect(log.allSatisfy { $0.byName == "anna" && !$0.fields.contains { $0.field.hasPrefix("author.") } })
        let details = try await anna.service.item(restored, job: job)
        #expect(details.person == "Ann" && details.fieldHistory["room"]?.person == "Bob")
        #expect(details.remarks.map(\.person) == ["Bob"])
        #expect(try await anna.service.roster(job: job).map(\.person) == ["Ann"])
        _ = try await bob.removeJob(job, isConfirmed: true)
        #expect(try await anna.log(job).last?.person == "Bob")
    }

    @Test("What comes from another laptop names its people: in the events, and where rivals are listed and settled")
    func conflicts() async throws {
        let (anna, bert) = (try await Laptop("anna"), try await Laptop("bert"))
        let job = try await anna.job("Smith")
        let sofa = try await anna.add(["name": "Sofa"], to: job)
        try await anna.meet(bert, over: job)
        let ann = anna.service.called(by: LocalCaller(user: 1_000))
        let bob = bert.service.called(by: LocalCaller(user: 1_000))
        _ = try await begin("Ann", ann)
        _ = try await begin("Bob", bob)
        _ = try await ann.setFields(FieldsRequest(fields: ["room": "Hall"]), item: sofa, job: job)
        _ = try await bob.setFields(FieldsRequest(fields: ["room": "Den"]), item: sofa, job: job)
        let applied = try await bert.send(try #require(JobID(job)), to: anna)
        let reporter = ChangeReporter(job: try await anna.store.job(try #require(JobID(job))))
        let sessions = try await anna.store.workSessions(of: try #require(JobID(job)))
        #expect(applied.map { reporter.report($0, sessions) }.last?.person == "Bob")
        let edit = try #require(try await anna.service.conflicts(job: job).edits.first)
        let people = [edit.winner, edit.losers[0]].map { "\($0.value) \($0.person ?? "")" }
        #expect(Set(people) == ["Hall Ann", "Den Bob"])
        let settled = try await ann.settle(SettleRequest(item: sofa, field: "room", take: "Bob"), job: job)
        #expect(settled.value == "Den")
        #expect(try await anna.service.item(sofa, job: job).fieldHistory["room"]?.person == "Ann")
    }

    @Test("Names are those of the crew's list, and a refusal changes nothing")
    func names() async throws {
        let anna = try await Laptop("anna")
        let service = anna.service.called(by: LocalCaller(user: 1_000))
        _ = try await begin("Ann", service)
        let refusal = await #expect(throws: APIError.self) {
            try await service.beginSession(BeginSessionRequest(name: "Anna"))
        }
        #expect(refusal?.code == .invalidValue && refusal?.candidates == ["Ann"])
        #expect(try await service.sessionReport().session?.name == "Ann")
        let again = try await service.beginSession(BeginSessionRequest(name: " ann"))
        #expect(again.session?.name == "Ann" && again.former?.name == "Ann")
        #expect(try await service.endSession().former?.name == "Ann")
        #expect(try await service.endSession().former == nil)
        #expect(try await service.sessionReport().session == nil)
        #expect(try await service.crew().names == ["Ann"])
    }

    @Test("Where the system does not say who asks there is no session")
    func nobodyAsks() async throws {
        let anna = try await Laptop("anna")
        let refusal = await #expect(throws: APIError.self) { try await begin("Ann", anna.service) }
        #expect(refusal?.code == .notPermitted)
    }
}
