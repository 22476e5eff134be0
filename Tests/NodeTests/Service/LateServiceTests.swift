import LocalAPIServer
import Simulation
import CRDT
import LocalAPI
import Storage
import Testing

@testable import Node

/// Work on a job that was removed meanwhile: nothing of it is lost, and nothing is applied before a person decides.
@Suite(.timeLimit(.minutes(1)))
struct LateServiceTests {
    /// Anna has removed the job; what Bert wrote without knowing that has come to her, and her removal to him.
    private func crew() async throws -> (anna: Laptop, bert: Laptop, sofa: String) {
        let (anna, bert) = (try await Laptop("anna"), try await Laptop("bert"))
        let job = try await anna.job("Smith", id: "Elm")
        let sofa = try await anna.add(["name": "Sofa"], to: job)
        try await anna.meet(bert, over: job)
        bert.machine.pass(milliseconds: 60_000)
        try await bert.set(["room": "Den"], of: sofa, in: job)
        _ = try await bert.add(["name": "Lamp"], to: job)
        _ = try await anna.service.removeJob(job, isConfirmed: true)
        try await anna.meet(bert, over: job)
        try await anna.meet(bert, over: job)
        return (anna, bert, sofa)
    }

    @Test("Both laptops list the same late work, in its order, with who did it")
    func listed() async throws {
        let (anna, bert, sofa) = try await crew()
        let late = try await anna.service.late(job: "Elm")
        #expect(try await bert.service.late(job: "Elm") == late)
        #expect(
            late.map(\.change.fields) == [
                [FieldChange(field: "room", from: nil, to: "Den")], [FieldChange(field: "name", from: nil, to: "Lamp")],
            ])
        #expect(late.allSatisfy { $0.byName == "bert" && $0.change.action == .changed && $0.change.job == "Elm" })
        #expect(late[0].change.item == sofa)
        #expect(late.map(\.change.itemName) == ["Sofa", "Lamp"], "as it was called, and as it is called now")
        for laptop in [anna, bert] {
            try await laptop.store.freeRemoved()
            #expect(try await laptop.service.late(job: "Elm") == late, "nor is it forgotten when all of it is freed")
            #expect(try await laptop.service.job("Elm").late == 2)
            #expect(
                try await laptop.service.jobs().map(\.isRemoved) == [true], "it is listed while somebody has to decide")
            #expect(try await laptop.log("Elm").isEmpty == false, "its end is told")
        }
    }

    @Test(
        "Nothing lists, exports or adds up a removed job as if it were empty; its late work is pointed at",
        arguments: [
            Asking("items") { _ = try await $0.items("Elm") },
            Asking("a part of them") {
                _ = try await $0.service.items(job: "Elm", matching: [], after: nil, limit: 10)
            },
            Asking("export") { _ = try await $0.service.export(job: "Elm", format: .csv) },
            Asking("summary") { _ = try await $0.service.summary(job: "Elm") },
            Asking("conflicts") { _ = try await $0.service.conflicts(job: "Elm") },
            Asking("pause") { _ = try await $0.service.pause(LaneRequest(lane: "Elm")) },
        ])
    func notEmpty(asking: Asking) async throws {
        let (anna, bert, _) = try await crew()
        let refusal = await #expect(throws: APIError.self) { try await asking.ask(bert) }
        #expect(refusal?.code == .jobRemoved)
        #expect(refusal?.message.hasSuffix("'muster job late Elm' shows 2 changes that came too late.") == true)
        _ = try await anna.service.dropLate(
            LateDecision(changes: try await anna.service.late(job: "Elm").map(\.id)), job: "Elm")
        let empty = await #expect(throws: APIError.self) { try await asking.ask(anna) }
        #expect(empty?.message == "The job 'Smith' has been removed for good; it has no items.")
        #expect(try await anna.service.check(job: "Elm").job == "Elm")
        #expect(try await anna.service.resume(LaneRequest(lane: "Elm")).wasPaused == false)
    }

    @Test("Accepted, it is in a new job that is the same wherever it is accepted, as its author wrote it")
    func accepted() async throws {
        let (anna, bert, sofa) = try await crew()
        let decision = LateDecision(changes: try await anna.service.late(job: "Elm").map(\.id))
        let outcome = try await anna.service.acceptLate(decision, job: "Elm")
        let job = try #require(outcome.newJob)
        #expect(outcome.changes == 2)
        #expect(try await bert.service.acceptLate(decision, job: "Elm") == outcome)
        try await anna.meet(bert, over: job)
        for laptop in [anna, bert] {
            #expect(try await laptop.service.job(job).name == "Smith (late)")
            #expect(try await laptop.items(job).map(\.fields) == [["room": "Den"], ["name": "Lamp"]])
            #expect(try await laptop.service.item(sofa, job: job).updatedByName == "bert")
            #expect(try await laptop.service.late(job: "Elm").isEmpty)
            #expect(try await laptop.service.jobs().map(\.id) == [job])
        }
    }

    @Test("What is left out is left out on every laptop, and the rest still waits")
    func dropped() async throws {
        let (anna, bert, _) = try await crew()
        let late = try await bert.service.late(job: "Elm")
        let outcome = try await bert.service.dropLate(LateDecision(changes: [late[0].id]), job: "Elm")
        #expect(outcome == LateOutcome(changes: 1))
        try await anna.meet(bert, over: "Elm")
        #expect(try await anna.service.late(job: "Elm").map(\.id) == [late[1].id])
        let again = await #expect(throws: APIError.self) {
            try await anna.service.dropLate(LateDecision(changes: late.map(\.id)), job: "Elm")
        }
        #expect(again?.code == .unknownChange, "one of them was decided on")
        #expect(try await anna.service.late(job: "Elm").count == 1)
    }

    @Test("What is no late change is refused", arguments: ["", "x", "1:2:3", "0:1", "\(ReplicaID(7)):1"])
    func unknown(text: String) async throws {
        let (anna, _, _) = try await crew()
        for decide in [anna.service.acceptLate, anna.service.dropLate] {
            let refusal = await #expect(throws: APIError.self) {
                try await decide(LateDecision(changes: [text]), "Elm")
            }
            #expect(refusal?.code == .unknownChange)
        }
    }

    @Test("A job that lives has no late work")
    func alive() async throws {
        let anna = try await Laptop("anna")
        let job = try await anna.job("Smith", id: "Elm")
        _ = try await anna.add(["name": "Sofa"], to: job)
        #expect(try await anna.service.late(job: job).isEmpty)
    }
}

/// What asks for something of the job `Elm`.
struct Asking: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let ask: @Sendable (Laptop) async throws -> Void

    init(_ what: String, _ ask: @escaping @Sendable (Laptop) async throws -> Void) {
        (testDescription, self.ask) = (what, ask)
    }
}
