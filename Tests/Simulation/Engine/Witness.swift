import CRDT
import Storage

/// Sees what each transaction of a laptop's store, or of the server's, has made durable, before anybody else goes on.
final class Witness: @unchecked Sendable {
    nonisolated(unsafe) let holder: Holder
    nonisolated(unsafe) let checker: Checker
    private let scheduler: Scheduler
    /// Nil while nothing that is written lasts: the power is off, or the disk is another one.
    private var watched: Store?
    /// When its people write; nothing for the server, whose clock is the true one.
    var time: () -> UInt64 = { 0 }
    /// How far ahead of its time the laptop stamps what it writes in this transaction; nil when that was asked for earlier.
    var lie: UInt64?
    /// The writes that wait for each other become durable in one moment.
    var isHolding = false
    /// Told of what must not be.
    var fail: (any Error) -> Void = { _ in }

    init(_ name: String, store: Store, checker: Checker, scheduler: Scheduler) {
        holder = Holder(name, store: store)
        self.checker = checker
        self.scheduler = scheduler
    }

    /// A store was opened: on the disk of before, or on one that held something else.
    func watch(_ store: Store, holding references: [JobID: Reference]? = nil) throws {
        nonisolated(unsafe) let (holder, checker) = (holder, checker)
        holder.begin(with: store, holding: references ?? holder.references)
        watched = store
        try look { try await checker.reloaded(holder) }
        store.whenWritten { [weak self, weak store] in
            guard let self else { return }
            if let store, store === self.watched { self.wrote() }
            self.lie = nil
        }
    }

    /// What is written from now on is gone with the power.
    func close() { watched = nil }

    /// Looks at the store while everything else stands still.
    func look<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        scheduler.isStandingStill = true
        defer { scheduler.isStandingStill = false }
        return try Aside.run(body)
    }

    /// Words about who is on jobs have come into force, in the daemon that has this store.
    func learned(_ statements: [Assignment], in store: Store, of fleet: [UInt8]) {
        nonisolated(unsafe) let (holder, checker) = (holder, checker)
        guard store === holder.store else { return }
        let now = scheduler.now
        let wasStill = scheduler.isStandingStill
        defer { scheduler.isStandingStill = wasStill }
        do { try look { try await checker.learned(statements, by: holder, of: fleet, at: now) } } catch { fail(error) }
    }

    private func wrote() {
        nonisolated(unsafe) let (holder, checker) = (holder, checker)
        let writing = Checker.Writing(time: time(), lie: lie ?? 0, isPrompt: lie != nil && !isHolding)
        let transaction = Checker.Transaction(writing: writing, isAlone: !isHolding, at: scheduler.now)
        do { try look { try await checker.wrote(holder, transaction) } } catch { fail(error) }
    }
}
