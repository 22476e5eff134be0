import CRDT
import Engine
import Inventory
import Outbox
import Storage

/// What people want of a laptop.
extension Laptop {
    /// A person writes.
    ///
    /// - Returns: its stamp if that was acknowledged: not when the power went meanwhile.
    func write(_ edits: [Edit], in job: JobID) async throws -> Stamp? {
        let engine = engine
        let lie = lieMilliseconds
        let result = try await engine.store.edit(
            job: job, createsJob: true,
            now: { [witness] in
                witness.lie = lie
                return engine.clock.now.later(by: lie)
            }, edits)
        guard let commit = result.commit else { return nil }
        // Whoever asked is not always the first to go on.
        if generator.oneIn(4) {
            await machine.scheduler.pass(microseconds: Int64.random(in: 0...500_000, using: &generator))
        }
        guard isAlive(engine), let change = try ChangeCodec.decodeAll(commit.segment.bytes).last else { return nil }
        return change.stamp
    }

    /// A person removes a job.
    func remove(_ job: JobID) async throws {
        let engine = engine
        let clock = engine.clock
        await engine.replicator.jobRemoved(try await engine.store.removeJob(job, now: clock.now))
        try await engine.store.freeRemoved()
    }

    /// A person takes late work into a job of its own, or drops it.
    ///
    /// - Parameter choose: names some of what is listed.
    /// - Returns: what they named, and what was written then; nil if that was not acknowledged. It may have happened all the
    ///   same.
    func decideLate(
        in job: JobID, accepts: Bool, choosing choose: ([QuarantinedChange]) -> [QuarantinedChange]
    ) async throws -> (named: [QuarantinedChange], commits: [Commit])? {
        let engine = engine
        let clock = engine.clock
        let named = choose(try await engine.store.lateChanges(of: job))
        guard !named.isEmpty else { return nil }
        let dots = named.map(\.dot)
        let commits =
            accepts
            ? try await engine.store.acceptLate(dots, of: job, now: clock.now)
            : try await engine.store.dropLate(dots, of: job, now: clock.now).map { [$0] } ?? []
        return isAlive(engine) ? (named, commits) : nil
    }

    func isAlive(_ engine: Engine) -> Bool { isUp && engine.store === self.engine.store }

    /// A person asks the server for the next state of a job.
    func ask(about job: JobID) async throws { try await ask(about: job, of: engine) }

    private func ask(about job: JobID, of engine: Engine) async throws {
        let notShown = await engine.outbox.notShown
        let state = (try? await engine.store.overlay(of: job, leavingOut: notShown))?.shown.state
        var batch = MutationBatch(job: job)
        batch.createsJob = true
        if let state {
            guard let next = state.next.filter({ $0 != .cancelled }).first else { return }
            batch.add(AdvanceState(to: next), using: &generator)
        } else {
            batch.add(OpenJob(name: "Smith", kind: .pickup), using: &generator)
        }
        _ = try await ask(batch, of: engine)
    }

    /// A customer signs for what this laptop shows, or for something else; where that is not due yet the next state is asked for.
    ///
    /// - Returns: whether a signature was acknowledged.
    func signOff(_ job: JobID, isForgery: Bool) async throws -> Bool {
        let engine = engine
        let notShown = await engine.outbox.notShown
        let state = (try? await engine.store.overlay(of: job, leavingOut: notShown))?.shown.state
        guard state == .awaitingSignature, let digest = try? await engine.store.digest(of: job).text else {
            try await ask(about: job, of: engine)
            return false
        }
        var batch = MutationBatch(job: job)
        let signed = isForgery ? String(repeating: "0f", count: 32) : digest
        batch.add(SignOff(digest: signed, name: "J. Smith"), using: &generator)
        return try await ask(batch, of: engine)
    }

    private func ask(_ batch: MutationBatch, of engine: Engine) async throws -> Bool {
        do {
            let tokens = try await engine.outbox.ask(batch).tokens
            guard isAlive(engine) else { return false }
            asked.formUnion(tokens)
            return true
        } catch is MutationRefusal {
            // What is pending and not shown leaves no room for it.
            return false
        }
    }

    /// A person gives up the oldest wish that nobody has answered.
    ///
    /// - Returns: false when there was none, or somebody was quicker.
    func drop() async throws -> Bool {
        let outbox = engine.outbox
        guard let token = await outbox.queue.first(where: { $0.entry.isOwn })?.entry.token else { return false }
        do {
            try await outbox.drop(token)
            return true
        } catch is OutboxRefusal {
            return false
        }
    }
}

extension ReceiveTime {
    fileprivate func later(by milliseconds: UInt64) -> ReceiveTime {
        ReceiveTime(milliseconds: self.milliseconds + milliseconds, isSynchronised: isSynchronised)
    }
}
