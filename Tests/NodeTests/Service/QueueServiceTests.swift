import CRDT
import Engine
import Inventory
import LocalAPI
import LocalAPIServer
import Outbox
import ServerChannel
import Simulation
import Storage
import Synchronization
import Testing

@testable import Node

/// What is asked of the server, on a laptop that cannot reach it.
@Suite(.timeLimit(.minutes(1)))
struct QueueServiceTests {
    private func laptop() async throws -> (Laptop, job: String) {
        let anna = try await Laptop("anna")
        return (anna, try await anna.job("Smith", .pickup, id: "Elm"))
    }

    private func advance(_ laptop: Laptop, to states: [String]) async throws -> [String] {
        var tokens: [String] = []
        for state in states {
            laptop.machine.pass(milliseconds: 1_000)
            tokens += try await laptop.service.advance(AdvanceRequest(state: state), job: "Elm").tokens
        }
        return tokens
    }

    @Test("The first wish for a state opens the job before it, and both wait in one lane")
    func opened() async throws {
        let (anna, job) = try await laptop()
        #expect(try await anna.service.queue().isEmpty)
        #expect(try await anna.service.attempts(limit: 10).isEmpty)
        let tokens = try await advance(anna, to: ["dispatched", "inProgress"])
        let queue = try await anna.service.queue()
        #expect(queue.map(\.token) == tokens && queue.count == 3)
        #expect(queue.map(\.kind) == ["openJob", "advanceState", "advanceState"])
        #expect(queue.map(\.wish) == ["open the job 'Smith'", "advance to dispatched", "advance to inProgress"])
        #expect(queue.map(\.state) == [.ready, .behind, .behind])
        #expect(queue.allSatisfy { $0.isOwn && $0.askedBy == "anna" && $0.jobName == "Smith" && $0.attempts == 0 })
        #expect(Set(queue.map(\.lane)).count == 1 && queue[0].job == job)
        #expect(queue.map(\.createdAt) == queue.map(\.createdAt).sorted())
        #expect(try await anna.service.job(job).state == ShownState(published: nil, pending: "inProgress"))
        #expect(try await anna.service.jobs().map(\.state.pending) == ["inProgress"])
        #expect(try await anna.service.status().queue == QueueStatus(pending: 3))
    }

    @Test("An edit and a request of a job that is named in full are a write each, and nobody looks for more")
    func cost() async throws {
        let (anna, job) = try await laptop()
        // Whoever listens is told behind the answer.
        await anna.core.replicator.tellCommitted()
        let looks = Mutex<[Bool]>([])
        anna.core.publisher.onAdvance { advance in looks.withLock { $0.append(advance.concernsOutbox) } }
        var tokens = try await advance(anna, to: ["dispatched"])
        let waits = Mutex(0)
        anna.store.setLatency { waits.withLock { $0 += 1 } }
        _ = try await anna.add(["name": "Sofa"], to: job)
        // Before and after each.
        #expect(waits.withLock { $0 } == 2)
        tokens += try await advance(anna, to: ["inProgress"])
        #expect(waits.withLock { $0 } == 4)
        await anna.core.replicator.tellCommitted()
        #expect(looks.withLock { $0 } == [false, false, false])
        #expect(try await anna.service.queue().map(\.token) == tokens)
        // Whoever looks for what another laptop asks for finds these once.
        let bert = try await Laptop("bert")
        try await anna.send(try #require(JobID(job)), to: bert)
        tokens += try await bert.service.advance(AdvanceRequest(state: "awaitingSignature"), job: job).tokens
        try await bert.send(try #require(JobID(job)), to: anna)
        #expect(try await anna.service.queue().map(\.token) == tokens)
    }

    @Test("To ask for the first state is to open the job, and no more")
    func scheduled() async throws {
        let (anna, job) = try await laptop()
        #expect(try await advance(anna, to: ["scheduled"]).count == 1)
        #expect(try await anna.service.job(job).state.pending == "scheduled")
    }

    @Test(
        "A state that cannot follow, or that there is not, is refused and asked of nobody",
        arguments: ["completed", "scheduled", "finished", ""])
    func impossible(state: String) async throws {
        let (anna, job) = try await laptop()
        let tokens = try await advance(anna, to: ["dispatched"])
        let refusal = await #expect(throws: APIError.self) { try await advance(anna, to: [state]) }
        #expect(refusal?.code == .invalidValue)
        #expect(try await anna.service.queue().map(\.token) == tokens)
        #expect(try await anna.service.job(job).state.pending == "dispatched")
    }

    @Test("Who asks for the same state again is told of the request that waits, unless another went between")
    func twice() async throws {
        let (anna, job) = try await laptop()
        let tokens = try await advance(anna, to: ["dispatched"])
        let again = try await anna.service.advance(AdvanceRequest(state: "dispatched"), job: "Smith")
        #expect(again == QueuedTokens(tokens: [tokens[1]], isNew: false))
        _ = try await anna.service.pause(LaneRequest())
        #expect(try await anna.service.advance(AdvanceRequest(state: "dispatched"), job: job) == again)
        let conditional = anna.service.called(by: LocalCaller(on: .strong(["0"])))
        let refusal = await #expect(throws: APIError.self) {
            try await conditional.advance(AdvanceRequest(state: "dispatched"), job: job)
        }
        #expect(refusal?.code == .preconditionFailed)
        // Back to work after the customer has not signed is not the same as to begin it.
        let back = try await advance(anna, to: ["inProgress", "awaitingSignature", "inProgress"])
        #expect(Set(back).count == 3)
        #expect(try await anna.service.queue().map(\.token) == tokens + back)
        // What anna has asked for she may take back, or never get there, and bert would have asked for nothing.
        let bert = try await Laptop("bert")
        try await anna.meet(bert, over: job)
        let there = try await bert.service.advance(AdvanceRequest(state: "inProgress"), job: job)
        #expect(there.isNew == true && there.tokens != [back[2]])
        let repeated = try await bert.service.advance(AdvanceRequest(state: "inProgress"), job: job)
        #expect(repeated == QueuedTokens(tokens: there.tokens, isNew: false))
        // And what bert asks for behind it hides the own one from nobody.
        try await anna.meet(bert, over: job)
        #expect(try await anna.service.queue().last { $0.state != .rejected }?.isOwn == false)
        let mine = try await anna.service.advance(AdvanceRequest(state: "inProgress"), job: job)
        #expect(mine == QueuedTokens(tokens: [back[2]], isNew: false))
        _ = try await anna.service.removeJob(job, isConfirmed: true)
        let removed = await #expect(throws: APIError.self) { try await advance(anna, to: ["inProgress"]) }
        #expect(removed?.code == .jobRemoved)
    }

    @Test("What is dropped is taken back, what follows from it shows no more, and its token still tells what it was")
    func dropped() async throws {
        let (anna, job) = try await laptop()
        let tokens = try await advance(anna, to: ["dispatched", "inProgress"])
        let dropped = try await anna.service.drop(tokens[2])
        #expect(dropped.token == tokens[2] && dropped.wish == "advance to inProgress")
        #expect(try await anna.service.job(job).state.pending == "dispatched")
        let known = try await anna.service.queued(tokens[2])
        #expect(known.wish == "advance to inProgress" && [.withdrawn, .dropping].contains(known.state))
        #expect(known.isOwn && known.askedBy == "anna" && known.decidedAt == nil)
        #expect(try await advance(anna, to: ["inProgress"]).count == 1, "it can be asked for again")
    }

    @Test("A token is found by its beginning in any letters")
    func prefix() async throws {
        let (anna, _) = try await laptop()
        let token = try #require(try await advance(anna, to: ["scheduled"]).first)
        for text in [token, String(token.prefix(8)), token.prefix(8).uppercased()] {
            #expect(try await anna.service.queued(text).token == token)
            #expect(try await anna.service.retry(text).token == token)
        }
        let short = await #expect(throws: APIError.self) { try await anna.service.drop(String(token.prefix(3))) }
        #expect(short?.code == .unknownMutation && short?.message.contains("four characters") == true)
        #expect(try await anna.service.queue().count == 1, "nothing was dropped")
    }

    @Test(
        "A pause of one job, or of its lane, parks what is in it, and one of everything wants to be ended as a whole",
        arguments: ["Smith", "Elm", "Elm/state", "Smith/state"])
    func paused(text: String) async throws {
        let (anna, _) = try await laptop()
        _ = try await advance(anna, to: ["dispatched"])
        let smith = PausedJob(job: "Elm", jobName: "Smith")
        let lane = LaneRequest(lane: text)
        #expect(try await anna.service.pause(lane) == QueueStatus(paused: 2, pausedJobs: [smith]))
        #expect(try await anna.service.queue().allSatisfy { $0.state == .paused })
        #expect(try await anna.service.resume(lane) == ended(QueueStatus(pending: 2)))
        #expect(try await anna.service.resume(lane) == ended(QueueStatus(pending: 2), wasPaused: false))
        #expect(try await anna.service.pause(LaneRequest()) == QueueStatus(paused: 2, isPaused: true))
        let refusal = await #expect(throws: APIError.self) { try await anna.service.resume(lane) }
        #expect(refusal?.code == .invalidValue && refusal?.message.contains("without a job") == true)
        #expect(try await anna.service.resume(LaneRequest()) == ended(QueueStatus(pending: 2)))
        _ = try await anna.service.pause(lane)
        #expect(try await anna.service.resume(LaneRequest()) == ended(QueueStatus(pending: 2)))
        #expect(try await anna.service.resume(LaneRequest()) == ended(QueueStatus(pending: 2), wasPaused: false))
    }

    private func ended(_ status: QueueStatus, wasPaused: Bool = true) -> QueueStatus {
        var status = status
        status.wasPaused = wasPaused
        return status
    }

    @Test("What is no lane cannot be paused", arguments: ["", "Elm/", "Elm/a/b", "Elm/nothing", "/state"])
    func noLane(text: String) async throws {
        let (anna, _) = try await laptop()
        let refusal = await #expect(throws: APIError.self) { try await anna.service.pause(LaneRequest(lane: text)) }
        #expect(refusal?.code == .unknownJob)
    }

    @Test("Who signs signs for what was shown, in the state that wants it, and shows as pending")
    func signed() async throws {
        let (anna, job) = try await laptop()
        let shown = try await anna.service.summary(job: job).digest
        let early = await #expect(throws: APIError.self) {
            try await anna.service.signOff(SignOffRequest(name: "J. Smith", digest: shown), job: job)
        }
        #expect(early?.code == .invalidValue)
        _ = try await advance(anna, to: ["dispatched", "inProgress", "awaitingSignature"])
        let signed = try await anna.service.signOff(
            SignOffRequest(name: " J. Smith\n", digest: shown.uppercased()), job: job)
        #expect(signed.tokens.count == 1 && signed.digest == shown)
        let signature = try await anna.service.job(job).signature
        #expect(signature == Signature(name: "J. Smith", digest: shown, isPending: true))
        // Where the journals ended goes with it, for programs: it is not for the eye.
        let requests = try await anna.store.pendingRequests(of: #require(JobID(job)))
        let asked = try requests.filter { $0.request.kind == SignOff.name }.map {
            try SignOff(payload: #require(FlatJSON(parsing: $0.request.payload)))
        }
        #expect(asked.map(\.digest) == [shown] && asked.allSatisfy { $0.vector?.sequences.isEmpty == false })
        let lines = try await anna.log(job).compactMap(\.note)
        #expect(lines.contains { $0.contains("sign off as") } && !lines.contains { $0.contains("vector") })
        _ = try await anna.add(["name": "Sofa"], to: job)
        let changed = await #expect(throws: APIError.self) {
            try await anna.service.signOff(SignOffRequest(name: "J. Smith", digest: shown), job: job)
        }
        #expect(changed?.code == .invalidValue && changed?.message.contains("not the one") == true)
    }

    @Test("A signature needs a name", arguments: ["", "  ", "a\nb", String(repeating: "x", count: 1_025)])
    func nameless(name: String) async throws {
        let (anna, job) = try await laptop()
        let refusal = await #expect(throws: APIError.self) {
            try await anna.service.signOff(SignOffRequest(name: name), job: job)
        }
        #expect(refusal?.code == .invalidValue)
    }

    @Test("Another laptop's wish is seen with who asked for it, and is not this one's to drop")
    func others() async throws {
        let (anna, job) = try await laptop()
        let bert = try await Laptop("bert")
        let tokens = try await advance(anna, to: ["dispatched"])
        try await anna.meet(bert, over: job)
        let queue = try await bert.service.queue()
        #expect(queue.map(\.token) == tokens && queue.allSatisfy { !$0.isOwn && $0.askedBy == "anna" })
        #expect(try await bert.service.job(job).state.pending == "dispatched")
        #expect(try await bert.service.status().queue == QueueStatus())
        let refusal = await #expect(throws: APIError.self) { try await bert.service.drop(tokens[1]) }
        #expect(refusal?.code == .mutationSettled)
        _ = try await anna.service.drop(tokens[1])
        try await anna.meet(bert, over: job)
        #expect(try await bert.service.queued(tokens[1]).state == .withdrawn)
        #expect(try await bert.service.job(job).state.pending == "scheduled")
    }

    @Test("Where there is a server, a new job is opened there by itself")
    func configured() async throws {
        var configuration = NodeConfiguration()
        configuration.server = ServerAddress("https://office.example")
        let anna = try await Laptop("anna", configuration: configuration)
        let job = try await anna.job("Smith", id: "Elm")
        #expect(try await anna.service.queue().map(\.wish) == ["open the job 'Smith'"])
        #expect(try await anna.service.job(job).state.pending == "scheduled")
        #expect(try await advance(anna, to: ["dispatched"]).count == 1)
        let server = try await anna.service.status().server
        #expect(server == ServerContact(address: "https://office.example", lastAnswerAt: nil, ageSeconds: nil))
    }
}
