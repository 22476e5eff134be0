import CRDT
import Storage

/// Somebody with a store, and what the reference knows of each job in it: a laptop, or the server.
final class Holder: CustomStringConvertible {
    let description: String
    var store: Store
    var references: [JobID: Reference] = [:]
    /// Of each job, changes since everything that is held of it was last looked at.
    var changesSinceLook: [JobID: Int] = [:]
    var looks = 0
    /// What its store said after the last transaction.
    var vectors: [JobID: VersionVector] = [:]
    var removals: [JobID: JobRemoval] = [:]
    /// When a request became open here that nobody asks for in that moment: it came with a journal, or came back with one.
    var openSince: [MutationToken: Int64] = [:]
    /// What is in force here of who is on which job, and since when the last of it is.
    var words: [JobID: SaidWords] = [:]
    var wordsSince: [JobID: Int64] = [:]
    /// Its name after the last transaction.
    var formerReplica: ReplicaID?

    /// Another disk, or one that was opened anew.
    func begin(with store: Store, holding references: [JobID: Reference]) {
        self.store = store
        self.references = references
        (vectors, removals) = ([:], [:])
        (words, wordsSince) = ([:], [:])
    }

    init(_ description: String, store: Store) {
        self.description = description
        self.store = store
    }

    subscript(job: JobID) -> Reference { references[job] ?? Reference() }

    var jobs: [JobID] { references.keys.sorted() }
    /// It is the server's.
    var isChannel: Bool { store.identity.replica == .channel }
}
