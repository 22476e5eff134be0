/// What became of a run of journal that was to be taken in, from whomever it came.
package enum IngestResult: Hashable, Sendable {
    /// It is durable, up to its end.
    case stored
    /// All of it lies within what is held, which ends with this head; only the ends were compared.
    case duplicate(JournalHead)
    /// It begins after what is held, which ends with this head.
    case gap(JournalHead)
    /// It does not fit what is held, which ends with this head: two journals have one name (rule R9).
    case forked(JournalHead)
    /// It shows that this store's own journal, the one of this name, has more or another content elsewhere (rule R9).
    case ownFuture(of: ReplicaID)
    /// The bytes are no journal, for this reason; nothing has changed.
    case malformed(String)
    /// Its author has not signed it, for this reason; nothing has changed.
    case forged(String)
    /// Its author is nobody of the fleet; nothing has changed.
    case unvouched
    /// The store failed (a full disk); nothing has changed.
    case failed
}
