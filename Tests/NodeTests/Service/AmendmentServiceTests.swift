import CRDT
import Engine
import HTTPCoding
import Inventory
import LocalAPI
import Simulation
import Storage
import Testing

@testable import Node

/// What was changed since the customer signed, as the local API tells it.
@Suite(.timeLimit(.minutes(1)))
struct AmendmentServiceTests {
    private func signed() async throws -> (Laptop, sofa: String, lamp: String) {
        let anna = try await Laptop("anna")
        _ = try await anna.job("Smith", .pickup, id: "Elm")
        let sofa = try await anna.add(["name": "Sofa", "room": "Hall"], to: "Elm")
        let lamp = try await anna.add(["name": "Lamp"], to: "Elm")
        for state in ["dispatched", "inProgress", "awaitingSignature"] {
            anna.machine.pass(milliseconds: 1_000)
            _ = try await anna.service.advance(AdvanceRequest(state: state), job: "Elm")
        }
        #expect(try await anna.service.amendments(job: "Elm") == AmendmentReport(signature: nil, standing: .unsigned))
        anna.machine.pass(milliseconds: 1_000)
        _ = try await anna.service.signOff(SignOffRequest(name: "J. Smith"), job: "Elm")
        return (anna, sofa, lamp)
    }

    private func lines(_ laptop: Laptop) async throws -> [String] {
        let report = try await laptop.service.amendments(job: "Elm")
        #expect(report.items.isEmpty == (report.standing != .amended))
        return report.items.map { item in
            let fields = item.fields.map { "\($0.field): \($0.signed ?? "-") → \($0.present.value)" }
            return ([item.itemName ?? "", item.kind.rawValue] + fields + item.notes + [item.byName ?? ""])
                .joined(separator: " | ")
        }
    }

    @Test("Whoever writes to a job that was signed for is told so, whatever is written, and nobody else")
    func told() async throws {
        let (anna, sofa, lamp) = try await signed()
        let expected = AmendedJob(
            state: nil, signedBy: "J. Smith", signedAt: Timestamp(milliseconds: Laptop.moment.milliseconds + 6_000))
        anna.machine.pass(milliseconds: 60_000)
        let service = anna.service
        let fields = FieldsRequest(fields: ["room": "Den"])
        let removed = try await service.removeItems(RemovalRequest(items: [lamp]), job: "Elm")
        var told = [
            removed.amends, try await service.restoreItem(lamp, job: "Elm").amends,
            try await service.addItem(fields, job: "Elm").amends,
            try await service.setFields(fields, item: sofa, job: "Elm").amends,
            try await service.addNote(NoteRequest(text: "scratched"), item: sofa, job: "Elm").amends,
            try await service.addItems(ItemBatch(items: [fields]), job: "Elm").amends,
        ]
        told.append(try await service.removeItem(sofa, job: "Elm").amends)
        #expect(told == Array(repeating: expected, count: 7))
        #expect(try await service.restoreItem(lamp, job: "Elm").amends == nil, "nothing was written")
        #expect(try await service.renameJob(RenameJobRequest(name: "Elm"), job: "Elm").amends == nil, "no item")
        _ = try await service.advance(AdvanceRequest(state: "completed"), job: "Elm")
        var over = expected
        over.state = "completed"
        #expect(try await service.addItem(fields, job: "Elm").amends == over)
        _ = try await anna.job("Oak", id: "Oak")
        #expect(try await service.addItem(fields, job: "Oak").amends == nil)
        // Back to work nothing is signed, and what only reads like a state is none.
        _ = try await service.advance(AdvanceRequest(state: "dispatched"), job: "Oak")
        _ = try await anna.job("completed", id: "Ash")
        _ = try await service.advance(AdvanceRequest(state: "dispatched"), job: "Ash")
        #expect(try await service.addItem(fields, job: "Ash").amends == nil)
    }

    @Test("Each item that is not as it was signed for is named with what it said then, what it says now, and by whom")
    func amended() async throws {
        let (anna, sofa, lamp) = try await signed()
        let bert = try await Laptop("bert")
        try await anna.meet(bert, over: "Elm")
        for laptop in [anna, bert] {
            let report = try await laptop.service.amendments(job: "Elm")
            #expect(report.standing == .asSigned && report.signature?.name == "J. Smith" && report.items.isEmpty)
        }
        bert.machine.pass(milliseconds: 60_000)
        try await bert.set(["room": "Den", "colour": "red"], of: sofa, in: "Elm")
        _ = try await bert.service.addNote(NoteRequest(text: "scratched"), item: sofa, job: "Elm")
        _ = try await bert.service.removeItem(lamp, job: "Elm")
        _ = try await bert.add(["name": "Stool"], to: "Elm")
        let box = try await bert.add(["name": "Box"], to: "Elm")
        _ = try await bert.service.removeItem(box, job: "Elm")
        try await anna.meet(bert, over: "Elm")
        let expected = [
            "Sofa | changed | colour: - → red | room: Hall → Den | scratched | bert", "Lamp | removed | bert",
            "Stool | added | name: - → Stool | bert", "Box | addedAndRemoved | bert",
        ]
        #expect(try await lines(anna) == expected)
        #expect(try await lines(bert) == expected)
        // What is set back is as it was signed.
        try await bert.set(["room": "Hall"], of: sofa, in: "Elm")
        #expect(try await lines(bert).first == "Sofa | changed | colour: - → red | scratched | bert")
        // What is brought back is a new item; the one that was signed for stays removed.
        _ = try await bert.service.restoreItem(lamp, job: "Elm")
        #expect(try await lines(bert).filter { $0.hasPrefix("Lamp") }.map { $0.contains("added") } == [false, true])
        // Signed again, there is nothing to amend.
        _ = try await bert.service.signOff(SignOffRequest(name: "J. Smith"), job: "Elm")
        #expect(try await bert.service.amendments(job: "Elm").standing == .asSigned)
    }

    @Test("A laptop that lacks a part of what was signed for says so, and tells when it has come")
    func behind() async throws {
        let (anna, sofa, _) = try await signed()
        let carl = try await Laptop("carl")
        let job = try #require(JobID("Elm"))
        try await anna.meet(carl, over: "Elm")
        let bert = try await Laptop("bert")
        try await anna.meet(bert, over: "Elm")
        bert.machine.pass(milliseconds: 60_000)
        try await bert.set(["room": "Den"], of: sofa, in: "Elm")
        try await anna.meet(bert, over: "Elm")
        anna.machine.pass(milliseconds: 120_000)
        _ = try await anna.service.signOff(SignOffRequest(name: "J. Smith"), job: "Elm")
        // Carl has the request, and not what bert wrote before it.
        let known = try await carl.store.vector(of: job)
        for entry in try await anna.store.vector(of: job).entries where known[entry.replica].sequence > 0 {
            let run = try await anna.store.segment(
                of: entry.replica, job: job, from: known[entry.replica].sequence + 1, maximumBytes: .max)
            guard let run else { continue }
            _ = try await carl.store.ingest(run, job: job, now: carl.service.clock.now)
        }
        #expect(try await carl.service.amendments(job: "Elm").standing == .notHeldYet)
        try await anna.meet(carl, over: "Elm")
        #expect(try await carl.service.amendments(job: "Elm").standing == .asSigned)
    }

    @Test("What is said is what the digest proves: a vector that leads elsewhere tells nothing")
    func proven() async throws {
        let (anna, sofa, _) = try await signed()
        let job = try #require(JobID("Elm"))
        let vector = try await anna.store.vector(of: job)
        let digest = try #require(try await anna.service.amendments(job: "Elm").signature?.digest)
        try await anna.set(["room": "Den"], of: sofa, in: "Elm")
        let whole = try #require(SignedVector(vector))
        guard case .held(let amendments) = try await anna.store.amendments(of: job, since: whole, digest: digest) else {
            Issue.record("the inventory that was signed for is held")
            return
        }
        #expect(amendments.map(\.kind) == [.changed])
        let own = try #require(vector.entries.first)
        for text in ["", "\(own.replica):2", "\(own.replica):\(own.head.sequence + 1)"] {
            let other = try #require(SignedVector(text))
            #expect(try await anna.store.amendments(of: job, since: other, digest: digest) == .anotherInventory)
        }
        for text in ["\(own.replica):\(ChangeLimits.sequence)", "\(String(repeating: "e", count: 32)):1"] {
            let other = try #require(SignedVector(text))
            #expect(try await anna.store.amendments(of: job, since: other, digest: digest) == .notHeldYet)
        }
        _ = try await anna.service.removeJob("Elm", isConfirmed: true)
        #expect(try await anna.store.amendments(of: job, since: whole, digest: digest) == .removedJob)
    }
}
