import CRDT
import HTTPCoding
import LocalAPI
import LocalAPIServer
import Simulation
import Testing

@testable import Node

/// Requests that are sent again until their answer is heard.
@Suite(.timeLimit(.minutes(1)))
struct KeyedRequestTests {
    private struct Died: Error {}

    private func laptop() async throws -> (Laptop, job: String) {
        let anna = try await Laptop("anna")
        return (anna, try await anna.job("Smith", id: "Elm"))
    }

    private static func keyed(
        _ key: String = "k1", _ request: String = "a sofa", isResumable: Bool = false,
        recover: @escaping @Sendable (WrittenParts) throws -> APIAnswer? = { _ in nil }
    ) -> KeyedRequest {
        KeyedRequest(key: key, request: Array(request.utf8), isResumable: isResumable, recover: recover)
    }

    private static let addsSofa: @Sendable (any MusterService) async throws -> APIAnswer = { service in
        let added = try await service.addItem(FieldsRequest(fields: ["name": "Sofa"]), job: "Elm")
        return APIAnswer(status: 201, tag: added.entityTag, body: try JSON.encode(added))
    }

    private static let recoversItem: @Sendable (WrittenParts) throws -> APIAnswer? = { written in
        APIAnswer(status: 201, tag: nil, body: try JSON.encode(Identified(id: written.items.last ?? "")))
    }

    @Test("The same request gets the first answer, and is carried out once; a failed one is carried out when it can be")
    func again() async throws {
        let (anna, job) = try await laptop()
        await #expect(throws: Died.self) { try await anna.service.once(Self.keyed()) { _ in throw Died() } }
        let first = try await anna.service.once(Self.keyed(), Self.addsSofa)
        let second = try await anna.service.once(Self.keyed()) { _ in throw Died() }
        #expect(second.body == first.body && second.status == 201 && second.tag == first.tag)
        #expect(try await anna.items(job).count == 1)
        _ = try await anna.service.once(Self.keyed("k2"), Self.addsSofa)
        #expect(try await anna.items(job).count == 2, "another key is another request")
    }

    @Test("A key with another request is refused; another user's key is another")
    func another() async throws {
        let (anna, job) = try await laptop()
        _ = try await anna.service.once(Self.keyed(), Self.addsSofa)
        let refusal = await #expect(throws: APIError.self) {
            try await anna.service.once(Self.keyed("k1", "a rug"), Self.addsSofa)
        }
        #expect(refusal?.code == .keyReused && refusal?.code.status == 422)
        let bob = anna.service.called(by: LocalCaller(user: 7))
        _ = try await bob.once(Self.keyed("k1", "a rug"), Self.addsSofa)
        #expect(try await anna.items(job).count == 2)
    }

    @Test("A request that is under way is not begun again")
    func underWay() async throws {
        let (anna, job) = try await laptop()
        let service = anna.service
        _ = try await service.once(Self.keyed()) { inner in
            let refusal = await #expect(throws: APIError.self) { try await service.once(Self.keyed(), Self.addsSofa) }
            #expect(refusal?.code == .requestUnderWay)
            return try await Self.addsSofa(inner)
        }
        #expect(try await anna.items(job).count == 1)
    }

    @Test("Who was not answered, because the daemon ended after it had written, gets the answer that the journal tells")
    func unanswered() async throws {
        let (anna, job) = try await laptop()
        await #expect(throws: Died.self) {
            try await anna.service.once(Self.keyed()) { service in
                _ = try await Self.addsSofa(service)
                throw Died()
            }
        }
        let item = try #require(try await anna.items(job).first)
        let keyed = Self.keyed(recover: Self.recoversItem)
        for _ in 0..<2 {
            let answer = try await anna.service.once(keyed) { _ in throw Died() }
            #expect(answer.status == 201)
            #expect(try JSON.decode(Identified.self, from: answer.body).id == item.id)
        }
        #expect(try await anna.items(job).count == 1)
    }

    @Test("An answer that the journal does not tell is said to be lost, and nothing is done twice")
    func lost() async throws {
        let (anna, job) = try await laptop()
        await #expect(throws: Died.self) {
            try await anna.service.once(Self.keyed()) { service in
                _ = try await Self.addsSofa(service)
                throw Died()
            }
        }
        let refusal = await #expect(throws: APIError.self) {
            try await anna.service.once(Self.keyed(), Self.addsSofa)
        }
        #expect(refusal?.code == .answerLost)
        #expect(try await anna.items(job).count == 1)
    }

    @Test(
        "An import that was ended in its midst goes on where it was, with a key column and without",
        arguments: [true, false])
    func resumed(hasKey: Bool) async throws {
        let (anna, job) = try await laptop()
        let rows = (0..<1_200).map { FieldsRequest(fields: ["code": "\($0)", "name": $0 % 100 == 7 ? "a\0" : "Box"]) }
        let importing: @Sendable (any MusterService, Int) async throws -> BatchReport = { service, count in
            try await service.addItems(
                ItemBatch(key: hasKey ? "code" : nil, items: Array(rows.prefix(count))), job: "Elm")
        }
        let keyed = Self.keyed(isResumable: true)
        await #expect(throws: Died.self) {
            try await anna.service.once(keyed) { service in
                _ = try await importing(service, 500)
                throw Died()
            }
        }
        let before = try await anna.items(job)
        #expect(before.count == 495)
        anna.machine.pass(milliseconds: 3_600_000)
        let answer = try await anna.service.once(keyed) { service in
            APIAnswer(status: 200, tag: nil, body: try JSON.encode(try await importing(service, 1_200)))
        }
        let results = try JSON.decode(BatchReport.self, from: answer.body).results
        #expect(results.filter { $0.outcome == .added }.count == 1_188)
        #expect(results.filter { $0.outcome == .rejected }.count == 12)
        let items = try await anna.items(job)
        #expect(items.count == 1_188)
        #expect(Set(before.map(\.id)).isSubset(of: items.map(\.id)))
        #expect(Set(results.compactMap(\.id)) == Set(items.map(\.id)))
    }
}
