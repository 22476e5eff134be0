import Engine
import Storage
import CRDT
import Inventory
import LocalAPI
import Testing

@testable import Node

/// Each way in which the daemon says no to people, brought about once.
@Suite(.timeLimit(.minutes(1)))
struct RefusalTests {
    /// Something that is refused, on a laptop with two jobs of one name, one of which has an item and a removed one.
    struct Wrong: Sendable, CustomTestStringConvertible {
        let code: APIError.Code
        let attempt: @Sendable (Scene) async throws -> Void

        init(_ code: APIError.Code, _ attempt: @escaping @Sendable (Scene) async throws -> Void) {
            self.code = code
            self.attempt = attempt
        }

        var testDescription: String { code.rawValue }
    }

    struct Scene: Sendable {
        let laptop: Laptop
        let job = "Elm"
        let sofa: String
        let vase: String

        var service: InventoryService { laptop.service }

        init() async throws {
            laptop = try await Laptop("anna")
            for id in ["Elm", "Elm-1", "Elm-2"] { _ = try await laptop.job("Smith", id: id) }
            _ = try await laptop.job("Jones", id: "Gone")
            sofa = try await laptop.add(["name": "Sofa", "room": "Hall", "barcode": "7"], to: "Elm")
            _ = try await laptop.add(["name": "Bed", "barcode": "7"], to: "Elm")
            vase = try await laptop.add(["name": "Vase"], to: "Elm")
            _ = try await laptop.service.removeItem(vase, job: "Elm")
            _ = try await laptop.service.removeJob("Gone", isConfirmed: true)
            // Somebody wrote the same field without knowing of this laptop.
            let bert = try await Laptop("bert")
            try await bert.put([("room", "Den")], item: try #require(ItemID(sofa)), job: try #require(JobID("Elm")))
            try await bert.send(try #require(JobID("Elm")), to: laptop)
        }
    }

    static let wrongs: [Wrong] = [
        Wrong(.unknownJob) { _ = try await $0.service.job("nobody") },
        Wrong(.ambiguousJob) { _ = try await $0.service.job("Smith") },
        Wrong(.ambiguousJob) { _ = try await $0.service.job("Elm-") },
        Wrong(.unknownJob) { _ = try await $0.service.advance(AdvanceRequest(state: "dispatched"), job: "nobody") },
        Wrong(.ambiguousJob) { _ = try await $0.service.advance(AdvanceRequest(state: "dispatched"), job: "Elm-") },
        Wrong(.jobExists) { _ = try await $0.laptop.job("Smith", id: "Elm") },
        Wrong(.jobRemoved) { _ = try await $0.laptop.add(["name": "Rug"], to: "Gone") },
        Wrong(.jobRemoved) { _ = try await $0.service.advance(AdvanceRequest(state: "dispatched"), job: "Gone") },
        Wrong(.jobRemoved) {
            _ = try await $0.service.removeItems(RemovalRequest(matching: ["room": "Den"]), job: "Gone")
        },
        Wrong(.unknownItem) { _ = try await $0.service.item("99", job: $0.job) },
        Wrong(.unknownItem) { try await $0.laptop.set(["a": "b"], of: ItemID(99).description, in: $0.job) },
        Wrong(.unknownItem) { _ = try await $0.service.item(ItemID.job.description, job: $0.job) },
        Wrong(.ambiguousItem) { _ = try await $0.service.item("7", job: $0.job) },
        Wrong(.itemRemoved) { try await $0.laptop.set(["a": "b"], of: $0.vase, in: $0.job) },
        Wrong(.itemNotRemoved) { _ = try await $0.service.restoreItem($0.sofa, job: $0.job) },
        Wrong(.noConflict) {
            _ = try await $0.service.settle(SettleRequest(item: $0.sofa, field: "name", take: "Sofa"), job: $0.job)
        },
        Wrong(.unknownRival) {
            _ = try await $0.service.settle(SettleRequest(item: $0.sofa, field: "room", take: "Attic"), job: $0.job)
        },
        Wrong(.invalidValue) { try await $0.laptop.set(["a=b": "c"], of: $0.sofa, in: $0.job) },
        Wrong(.invalidValue) { try await $0.laptop.set([:], of: $0.sofa, in: $0.job) },
        Wrong(.doubtfulValue) { try await $0.laptop.set(["quantity": "abc"], of: $0.sofa, in: $0.job) },
        Wrong(.doubtfulValue) { _ = try await $0.laptop.add(["volumeCubicFeet": "-3"], to: $0.job) },
        Wrong(.invalidValue) { _ = try await $0.service.addNote(NoteRequest(text: ""), item: $0.sofa, job: $0.job) },
        Wrong(.invalidValue) { _ = try await $0.laptop.items($0.job, where: ["notes": "x"]) },
        Wrong(.invalidValue) {
            let long = String(repeating: "x", count: (64 << 10) + 1)
            try await $0.laptop.set(["name": long], of: $0.sofa, in: $0.job)
        },
        Wrong(.invalidValue) { _ = try await $0.service.removeItems(RemovalRequest(), job: $0.job) },
        Wrong(.invalidValue) {
            let both = RemovalRequest(items: [$0.sofa], matching: ["room": "Den"])
            _ = try await $0.service.removeItems(both, job: $0.job)
        },
        Wrong(.confirmationNeeded) { _ = try await $0.service.removeJob($0.job, isConfirmed: false) },
        Wrong(.unknownChange) { _ = try await $0.service.dropLate(LateDecision(changes: ["x"]), job: "Gone") },
        Wrong(.unknownMutation) { _ = try await $0.service.queued("ffff") },
        Wrong(.unknownMutation) { _ = try await $0.service.drop("") },
        Wrong(.mutationSettled) {
            let advance = AdvanceRequest(state: "scheduled")
            let token = try await $0.service.advance(advance, job: $0.job).tokens[0]
            _ = try await $0.service.drop(token)
            // A look at the job tells the outbox that the withdrawal stands.
            await $0.service.outbox.jobAdvanced(try #require(JobID($0.job)))
            _ = try await $0.service.retry(token)
        },
        Wrong(.tooLarge) {
            let fields = Dictionary(uniqueKeysWithValues: (0...256).map { ("field \($0)", "x") })
            try await $0.laptop.set(fields, of: $0.sofa, in: $0.job)
        },
        Wrong(.tooLarge) {
            let names = (0...ItemBatch.largest).map(String.init)
            _ = try await $0.service.removeItems(RemovalRequest(items: names), job: $0.job)
        },
        Wrong(.unavailable) {
            $0.laptop.store.setDiskFull(true)
            try await $0.laptop.set(["a": "b"], of: $0.sofa, in: $0.job)
        },
    ]

    @Test("It is one sentence, has its code, and changes nothing", arguments: wrongs)
    func refused(wrong: Wrong) async throws {
        let scene = try await Scene()
        let refusal = await #expect(throws: APIError.self) { try await wrong.attempt(scene) }
        #expect(refusal?.code == wrong.code)
        let message = refusal?.message ?? ""
        #expect(message.last == "." && !message.contains("\n"))
        #expect(
            (refusal?.candidates.isEmpty == false)
                == (wrong.code.rawValue.hasPrefix("ambiguous") || wrong.code == .unknownRival))
        let job = try await scene.service.job(scene.job)
        #expect(job.items == 2 && job.removed == 1 && job.conflicts == 2)
    }

    @Test("A prefix of two tokens is refused with both")
    func ambiguousMutation() async throws {
        let anna = try await Laptop("anna")
        // Of seventeen tokens two begin alike.
        for number in 0...16 {
            let job = try await anna.job("Job \(number)")
            _ = try await anna.service.advance(AdvanceRequest(state: "scheduled"), job: job)
        }
        let digits = try await anna.service.queue().map { $0.token.prefix(1) }
        let digit = String(try #require(digits.first { digit in digits.count { $0 == digit } > 1 }))
        let refusal = await #expect(throws: APIError.self) { try await anna.service.queued(digit) }
        #expect(refusal?.code == .ambiguousMutation && (refusal?.candidates.count ?? 0) > 1)
        #expect(refusal?.candidates.allSatisfy { $0.hasPrefix(digit) } == true)
    }

    @Test("A choice among rivals that somebody has written over meanwhile is refused")
    func rivalsChanged() async throws {
        let scene = try await Scene()
        let store = scene.laptop.store
        store.holdWrites()
        let written = Task { try await scene.laptop.set(["room": "Attic"], of: scene.sofa, in: scene.job) }
        while store.waitingWriteCount < 1 { await Task.yield() }
        let settled = Task {
            try await scene.service.settle(
                SettleRequest(item: scene.sofa, field: "room", take: "Den"), job: scene.job)
        }
        while store.waitingWriteCount < 2 { await Task.yield() }
        store.releaseWrites()
        try await written.value
        let refusal = await #expect(throws: APIError.self) { try await settled.value }
        #expect(refusal?.code == .rivalsChanged)
        #expect(try await scene.service.item(scene.sofa, job: scene.job).fields["room"] == "Attic")
    }

    @Test("Every code that a service of its own can answer with is brought about here")
    func complete() {
        let elsewhere: Set<APIError.Code> = [.ambiguousMutation, .rivalsChanged]
        let expected: Set<APIError.Code> = [
            .unknownJob, .ambiguousJob, .jobExists, .unknownItem, .ambiguousItem, .itemRemoved,
            .itemNotRemoved, .noConflict, .unknownRival, .rivalsChanged, .invalidValue, .doubtfulValue,
            .confirmationNeeded,
            .jobRemoved, .unknownChange, .unknownMutation, .ambiguousMutation, .mutationSettled, .tooLarge,
            .unavailable,
        ]
        #expect(Set(Self.wrongs.map(\.code)).union(elsewhere) == expected)
    }
}
