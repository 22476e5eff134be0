import CRDT
import Inventory
import LocalAPI
import LocalAPIServer
import Simulation
import Testing

@testable import Node

@Suite("What jobs are called, and which one is meant", .timeLimit(.minutes(1)))
struct JobNameTests {
    private func refusal(_ laptop: Laptop, _ name: String) async throws -> APIError? {
        await #expect(throws: APIError.self) { try await laptop.service.job(name) }
    }

    @Test("A removed job gives its name back, and is meant where no living one has it")
    func givenBack() async throws {
        let anna = try await Laptop("anna")
        _ = try await anna.job("Elm", id: "Smith-1")
        _ = try await anna.service.removeJob("Elm", isConfirmed: true)
        #expect(try await anna.service.job("Elm").id == "Smith-1")
        #expect(try await anna.service.job("Smith").id == "Smith-1")
        _ = try await anna.job("Elm", id: "Smith-2")
        for name in ["Elm", "Smith"] { #expect(try await anna.service.job(name).id == "Smith-2") }
        #expect(try await anna.service.job("Smith-1").isRemoved)
    }

    @Test("A removed job gives back a name that is its id, too, and whoever edits means the living one")
    func idGivenBack() async throws {
        let anna = try await Laptop("anna")
        _ = try await anna.job("Oak", id: "Oak")
        _ = try await anna.service.removeJob("Oak", isConfirmed: true)
        #expect(try await anna.service.job("Oak").isRemoved)
        let again = try await anna.service.createJob(CreateJobRequest(name: "Oak", kind: .pickup)).id
        #expect(try await anna.service.job("Oak").id == again)
        let sofa = try await anna.add(["name": "Sofa"], to: "Oak")
        try await anna.set(["room": "Den"], of: sofa, in: "Oak")
        #expect(try await anna.service.advance(AdvanceRequest(state: "scheduled"), job: "Oak").tokens.count == 1)
        #expect(try await anna.service.job(again).items == 1)
    }

    @Test("The name of a removed job is not taken for a part of a living one's id")
    func nameBeforeID() async throws {
        let anna = try await Laptop("anna")
        let keep = try await anna.service.createJob(CreateJobRequest(name: "Keep", kind: .pickup)).id
        for part in [String(keep.suffix(4)), String(keep.prefix(4))] {
            _ = try await anna.service.createJob(CreateJobRequest(name: part, kind: .pickup))
            _ = try await anna.service.removeJob(part, isConfirmed: true)
            let again = await #expect(throws: APIError.self) {
                try await anna.service.removeJob(part, isConfirmed: true)
            }
            #expect(again?.code == .jobRemoved)
            let added = await #expect(throws: APIError.self) { try await anna.add(["name": "Sofa"], to: part) }
            #expect(added?.code == .jobRemoved)
        }
        let kept = try await anna.service.job(keep)
        #expect(kept.items == 0 && !kept.isRemoved)
        #expect(try await anna.service.job(String(keep.suffix(6))).id == keep)
    }

    @Test("Less than four characters of an id name no job, and hyphens in it are left out as in short ids")
    func partsOfIDs() async throws {
        let anna = try await Laptop("anna")
        let (job, office) = ("0190f5fe-7c00-7000-81b3-479946769842", "Oak-2024-17")
        for id in [job, office] { _ = try await anna.job("Named \(id)", id: id) }
        for part in ["0", "019", "O", "Oak", "842", "-17"] {
            let refusal = await #expect(throws: APIError.self) {
                try await anna.service.removeJob(part, isConfirmed: true)
            }
            #expect(refusal?.code == .unknownJob)
        }
        for part in ["0190", "9842", "b3479946769842", "b3-479946769842", "0190f5fe7c00"] {
            #expect(try await anna.service.job(part).id == job)
        }
        for part in ["Oak-", "4-17"] { #expect(try await anna.service.job(part).id == office) }
        #expect(try await refusal(anna, "Oak2024")?.code == .unknownJob, "an office's hyphens are part of its number")
    }

    @Test("A name that no job has is answered with the nearest, or with those that begin so; never with a removed one")
    func nearest() async throws {
        let anna = try await Laptop("anna")
        for (id, name) in [
            ("A-1", "Smith"), ("A-2", "Jones, 3 Oak Lane"), ("A-3", "Jones, 4 Oak Lane"), ("A-4", "Gone"),
            ("A-5", "Brook Lane"), ("A-6", "Brook Lane"),
        ] {
            _ = try await anna.job(name, id: id)
        }
        _ = try await anna.service.removeJob("A-4", isConfirmed: true)
        let meant = [
            "Smiht": "did you mean 'Smith'?", "jones": "did you mean 'Jones, 3 Oak Lane' or 'Jones, 4 Oak Lane'?",
            "bro": "did you mean 'Brook Lane'?", "Joens, 3": "did you mean 'Jones, 3 Oak Lane'?",
            "Gome": "'muster job list' shows the jobs.",
            "Jones, 7 Elm Lane": "'muster job list' shows the jobs.", "x": "'muster job list' shows the jobs.",
            "": "'muster job list' shows the jobs.", "!!": "'muster job list' shows the jobs.",
        ]
        for (text, hint) in meant {
            #expect(try await refusal(anna, text)?.message == "There is no job '\(text)' here; \(hint)")
        }
    }

    @Test("A name that may as well be the id that a list shows of another job names neither")
    func nameLikeID() async throws {
        let anna = try await Laptop("anna")
        _ = try await anna.job("Elm", id: "order-fa54b5")
        _ = try await anna.job("fa54b5", id: "B")
        #expect(try await refusal(anna, "fa54b5")?.candidates == ["B fa54b5", "order-fa54b5 Elm"])
        #expect(try await anna.service.job("order-fa54b5").name == "Elm")
    }

    @Test("Two of one name are told apart: living ones by what is in them, removed ones by the day")
    func several() async throws {
        let anna = try await Laptop("anna")
        _ = try await anna.job("Elm", .pickup, id: "A")
        _ = try await anna.job("Elm", id: "B")
        _ = try await anna.add(["name": "Sofa"], to: "B")
        let living = try await refusal(anna, "Elm")
        #expect(living?.code == .ambiguousJob && living?.candidates == ["A Elm", "B Elm"])
        for words in ["A (pickup, 0 items, changed on 2026-08-01)", "B (inventory, 1 item, changed on 2026-08-01)"] {
            #expect(living?.message.contains(words) == true, "\(living?.message ?? "")")
        }
        _ = try await anna.service.removeJob("A", isConfirmed: true)
        anna.machine.pass(milliseconds: 86_400_000)
        _ = try await anna.service.removeJob("Elm", isConfirmed: true)
        let removed = try await refusal(anna, "Elm")
        #expect(removed?.code == .ambiguousJob)
        for words in ["2 removed jobs", "A (removed on 2026-08-01)", "B (removed on 2026-08-02)"] {
            #expect(removed?.message.contains(words) == true, "\(removed?.message ?? "")")
        }
    }

    @Test("Who decides about late work means the job that has some")
    func late() async throws {
        let (anna, bert) = (try await Laptop("anna"), try await Laptop("bert"))
        _ = try await anna.job("Elm", id: "A")
        let sofa = try await anna.add(["name": "Sofa"], to: "A")
        try await anna.meet(bert, over: "A")
        try await bert.set(["room": "Den"], of: sofa, in: "A")
        _ = try await anna.service.removeJob("A", isConfirmed: true)
        _ = try await anna.job("Elm", id: "B")
        try await bert.send(try #require(JobID("A")), to: anna)
        let late = try await anna.service.late(job: "Elm")
        #expect(late.count == 1 && late[0].change.job == "A")
        #expect(try await anna.service.job("Elm").id == "B")
        let status = try await anna.service.status()
        #expect(status.jobs == 1 && status.removedJobs == 1)
        _ = try await anna.service.dropLate(LateDecision(changes: late.map(\.id)), job: "Elm")
        #expect(try await anna.service.late(job: "Elm").isEmpty, "now the living one is meant")
        #expect(try await anna.service.status().removedJobs == 0)
    }

    @Test("A new name is everybody's; of two the later one counts, and the other is listed")
    func renamed() async throws {
        let (anna, bert) = (try await Laptop("anna"), try await Laptop("bert"))
        let job = try await anna.job("Elm", id: "A")
        try await anna.meet(bert, over: job)
        bert.machine.pass(milliseconds: 1_000)
        #expect(try await anna.service.renameJob(RenameJobRequest(name: " Oak "), job: "Elm").id == job)
        #expect(try await anna.service.job("Oak").name == "Oak")
        #expect(try await refusal(anna, "Elm")?.code == .unknownJob)
        _ = try await bert.service.renameJob(RenameJobRequest(name: "Ash"), job: job)
        try await anna.meet(bert, over: job)
        for laptop in [anna, bert] {
            let details = try await laptop.service.job(job)
            #expect(details.name == "Ash" && details.conflicts == 1, "one field, not the mark beside it")
            let log = try await laptop.log(job)
            #expect(log.last?.fields.map(\.field) == ["name"])
        }
        _ = try await anna.service.removeJob(job, isConfirmed: true)
        #expect(try await anna.service.job("Ash").isRemoved)
    }

    @Test("A name that cannot be one, or a job that has changed or gone, is refused, and nothing is changed")
    func refused() async throws {
        let anna = try await Laptop("anna")
        let job = try await anna.job("Elm", id: "A")
        for name in ["", "a\tb", String(repeating: "x", count: 257)] {
            let refusal = await #expect(throws: APIError.self) {
                try await anna.service.renameJob(RenameJobRequest(name: name), job: job)
            }
            #expect(refusal?.code == .invalidValue)
        }
        let changed = anna.service.called(by: LocalCaller(on: .strong(["0"])))
        let refusal = await #expect(throws: APIError.self) {
            try await changed.renameJob(RenameJobRequest(name: "Oak"), job: job)
        }
        #expect(refusal?.code == .preconditionFailed)
        #expect(try await anna.service.job(job).name == "Elm")
        _ = try await anna.service.removeJob(job, isConfirmed: true)
        let gone = await #expect(throws: APIError.self) {
            try await anna.service.renameJob(RenameJobRequest(name: "Oak"), job: job)
        }
        #expect(gone?.code == .jobRemoved)
    }

    @Test("The doctor warns of living jobs of one name, and counts them as everybody does")
    func doctor() async throws {
        let anna = try await Laptop("anna")
        func check() async throws -> HealthCheck? {
            try await anna.service.doctor().checks.first { $0.id == .jobs }
        }
        for id in ["A", "B"] { _ = try await anna.job("Elm", id: id) }
        let warned = try #require(try await check())
        #expect(warned.outcome == .warn && warned.remedy?.contains("muster job rename") == true)
        #expect(warned.finding.hasPrefix("2; 2 jobs are called 'Elm': A (inventory, 0 items, changed on "))
        #expect(try await anna.service.jobs(named: "Elm").map(\.id) == ["A", "B"])
        _ = try await anna.service.renameJob(RenameJobRequest(name: "Oak"), job: "B")
        #expect(try await check()?.outcome == .ok)
        #expect(try await anna.service.jobs(named: "Elm").map(\.id) == ["A"])
    }
}
