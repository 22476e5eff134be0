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
        guard let backup = server.backup else { return }
        let holders = witnesses.map(\.holder)
        checker.restoring(server.holder, to: backup.references, others: holders)
        checker.forkable.insert(.channel)
        let said = decided(server.holder.references)
        try server.setBack(to: backup, isNoticed: generator.oneIn(2))
        traitor?.heard.forgetServersWords()
        server.forget(holders.reduce(into: said) { $0.subtract(decided($1.references)) })
        counters[.serverSetBacks] += 1
        if server.condition == .setBack { counters[.unawares] += 1 }
        scheduler.tell("the server is set back\(server.condition == .recovering ? ", and they know" : "")")
        Task(executorPreference: scheduler) { [self] in
            if server.condition == .setBack { await scheduler.pass(microseconds: Self.noticing) }
            server.beginRecovery()
            repeat { await scheduler.pass(microseconds: Self.looking) } while isServerBehind
            scheduler.tell("the server has its words again")
            server.endRecovery()
        }
    }

    /// Laptops of which this history has only the journals bring the server something.
    func sendCrowd() {
        guard generator.oneIn(12) else { return }
        let job = generator.pick(jobs)
        let count = generator.pick([5, 30, 300])
        scheduler.tell("\(count) journals of others come to the server, of \(job)")
        Task(executorPreference: scheduler) { [self] in
            // Those laptops know what it had said by then.
            let said = (try? await server.store.vector(of: job)[.channel].sequence) ?? 0
            for index in 0..<count {
                do {
                    let segment = try stranger(index, in: job, knowing: said, at: server.now.milliseconds)
                    checker.wroteElsewhere(segment, of: job)
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

    /// The journal of a laptop that is not here.
    ///
    /// - Parameter anchor: how much of the server's words it knew.
    func stranger(
        _ index: Int, in job: JobID, knowing anchor: UInt64, at milliseconds: UInt64
    ) throws -> JournalSegment {
        let author = TestAuthor(generator.next())
        let stamp = Stamp(milliseconds: milliseconds, counter: 0)
        let name = Operation.set(field: JobProperty.author(author.replica), value: "laptop of old", replaces: [])
        let value = Operation.set(field: "room", value: "crowd \(index)", replaces: [])
        let item = ItemID(UInt128(5_000 + index / 2))
        let bytes =
            ChangeCodec.encode(Change(item: .job, stamp: stamp, anchor: anchor, operations: [name]))
            + ChangeCodec.encode(Change(item: item, stamp: stamp.next, anchor: anchor, operations: [value]))
        return try author.segment(bytes, of: job)
    }

    /// Whether a laptop holds more of the server's words than it does, or may: who sleeps can have heard some and not stored them.
    private var isServerBehind: Bool {
        if laptops.contains(where: \.machine.processor.isAsleep) { return true }
        return laptops.contains { laptop in
            laptop.holder.references.contains {
                $0.value.head(of: .channel).sequence > server.holder[$0.key].head(of: .channel).sequence
            }
        }
    }

    /// The requests of which the server's journals say there what became of them.
    private func decided(_ references: [JobID: Reference]) -> Set<MutationToken> {
        Set(references.flatMap { RequestStanding($0.value, of: $0.key).outcomes.keys })
    }
}
