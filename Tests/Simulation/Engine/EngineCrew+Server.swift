import CRDT
import Outbox
import Storage

/// The server's disk is set back, and its people put that right.
extension EngineCrew {
    /// How long its people take to notice, and between two looks whether laptops still know more of its words.
    private static let noticing: Int64 = 40_000_000
    private static let looking: Int64 = 5_000_000

    func setServerBack() throws {
        guard server.condition == .well else { return }
        guard generator.oneIn(2) else { return try server.backUp() }
        guard let lost = try server.setBack(isNoticed: generator.oneIn(2)) else { return }
        counters.serverSetBacks += 1
        scheduler.tell("the server is set back\(server.condition == .recovering ? ", and they know" : "")")
        try excuse(lost, role: .channel)
        Task(executorPreference: scheduler) { [self] in
            if server.condition == .setBack { await scheduler.pass(microseconds: Self.noticing) }
            server.beginRecovery()
            repeat { await scheduler.pass(microseconds: Self.looking) } while await isServerBehind()
            scheduler.tell("the server has its words again")
            server.endRecovery()
        }
    }

    /// Whether a laptop holds more of the server's words than it does, or may: who sleeps can have heard some and not stored them.
    private func isServerBehind() async -> Bool {
        do {
            let there = try await Self.heads(in: server.store)
            for laptop in laptops {
                guard !laptop.machine.processor.isAsleep else { return true }
                let store = laptop.isUp ? laptop.engine.store : try reading(laptop.contents())
                defer { if !laptop.isUp { try? store.close() } }
                let here = try await Self.heads(in: store)
                if here.contains(where: { $0.value > there[$0.key] ?? 0 }) { return true }
            }
            return false
        } catch {
            fail(error)
            return false
        }
    }

    private static func heads(in store: Store) async throws -> [JobID: UInt64] {
        var heads: [JobID: UInt64] = [:]
        for held in try await store.vectors() { heads[held.job] = held.vector[.channel].sequence }
        return heads
    }
}

extension Store {
    /// The requests of which the server's journal says here what became of them.
    func decidedTokens(of job: JobID) async throws -> Set<MutationToken> {
        var tokens: Set<MutationToken> = []
        var next: UInt64 = 1
        guard (try? await vector(of: job)) != nil else { return [] }
        while let run = try await segment(of: .channel, job: job, from: next, maximumBytes: 1 << 20) {
            next = run.head.sequence + 1
            for operation in try ChangeCodec.decodeAll(run.bytes).flatMap(\.operations) {
                if case .outcome(let outcome) = operation { tokens.insert(outcome.token) }
            }
        }
        return tokens
    }
}
