import CRDT
import Inventory
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
        counters[.serverSetBacks] += 1
        if server.condition == .setBack { counters[.unawares] += 1 }
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

    /// Laptops of which this history has only the journals bring the server something.
    func sendCrowd() {
        guard generator.oneIn(12) else { return }
        let job = generator.pick(jobs)
        let count = generator.pick([5, 30, 300])
        var generator = SeededGenerator(seed: UInt64.random(in: 0...UInt64.max, using: &generator))
        scheduler.tell("\(count) journals of others come to the server, of \(job)")
        Task(executorPreference: scheduler) { [self] in
            // Those laptops know what it had said by then.
            let said = (try? await server.store.vector(of: job)[.channel].sequence) ?? 0
            for index in 0..<count {
                do {
                    let segment = try Self.stranger(index, knowing: said, at: server.now.milliseconds, &generator)
                    _ = try await server.upload([segment], to: job)
                    counters[.strangers] += 1
                } catch let error as StoreError where isToldToPeople(error) {
                    return
                } catch is ChannelIsSilent {
                    return
                } catch {
                    return fail(error)
                }
            }
        }
    }

    private static func stranger(
        _ index: Int, knowing anchor: UInt64, at milliseconds: UInt64, _ generator: inout SeededGenerator
    ) throws -> JournalSegment {
        let replica = ReplicaID.random(using: &generator)
        let stamp = Stamp(milliseconds: milliseconds, counter: 0)
        let name = Operation.set(field: JobProperty.author(replica), value: "laptop of old", replaces: [])
        let value = Operation.set(field: "room", value: "crowd \(index)", replaces: [])
        let item = ItemID(UInt128(5_000 + index / 2))
        let bytes =
            ChangeCodec.encode(Change(item: .job, stamp: stamp, anchor: anchor, operations: [name]))
            + ChangeCodec.encode(Change(item: item, stamp: stamp.next, anchor: anchor, operations: [value]))
        return JournalSegment(
            replica: replica, first: 1, head: try JournalDigest.extend(.empty, with: bytes), bytes: bytes)
    }

    /// Whether a laptop holds more of the server's words than it does, or may: who sleeps can have heard some and not stored them.
    private func isServerBehind() async -> Bool {
        do {
            let there = try await Self.heads(in: server.store)
            if laptops.contains(where: \.machine.processor.isAsleep) { return true }
            return try await isAnyDisk { store in
                try await Self.heads(in: store).contains { $0.value > there[$0.key] ?? 0 }
            }
        } catch {
            fail(error)
            return false
        }
    }

    /// Whether a laptop holds in its journals what the server has decided of a request.
    func isRemembered(_ token: MutationToken, of job: JobID) async -> Bool {
        do { return try await isAnyDisk { try await $0.decidedTokens(of: job).contains(token) } } catch {
            fail(error)
            return false
        }
    }

    private func isAnyDisk(_ matches: (Store) async throws -> Bool) async throws -> Bool {
        for laptop in laptops {
            // It may crash meanwhile.
            let isUp = laptop.isUp
            let store = isUp ? laptop.engine.store : try reading(laptop.contents())
            defer { if !isUp { try? store.close() } }
            if try await matches(store) { return true }
        }
        return false
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
