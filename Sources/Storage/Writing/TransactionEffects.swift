import Synchronization

/// What the transaction that is open has changed in memory, and how it is taken back when nothing of it becomes durable.
///
/// GRDB's own observers do not serve: a transaction that SQLite undoes by itself (a full disk, an input or output error; see
/// SQLite's manual, "Response To Errors Within A Transaction") is not told to them, and they take the next one for it.
final class TransactionEffects: Sendable {
    private struct Effect: Sendable {
        let commit: @Sendable () -> Void
        let undo: @Sendable () -> Void
    }

    private let effects = Mutex<[Effect]>([])

    /// How many there are.
    var count: Int { effects.withLock { $0.count } }

    /// Something was changed, in the transaction.
    func add(onCommit commit: @escaping @Sendable () -> Void = {}, onUndo undo: @escaping @Sendable () -> Void) {
        effects.withLock { $0.append(Effect(commit: commit, undo: undo)) }
    }

    /// The transaction is durable.
    func commit() {
        for effect in cut(to: 0) { effect.commit() }
    }

    /// What came after the first `count` is undone, the last one first: each leads back to the one before.
    func undo(after count: Int = 0) {
        for effect in cut(to: count).reversed() { effect.undo() }
    }

    private func cut(to count: Int) -> ArraySlice<Effect> {
        effects.withLock { effects in
            defer { effects = Array(effects.prefix(count)) }
            return effects.dropFirst(count)
        }
    }
}
