import CRDT
import Storage

/// Somebody with a store, and what the reference knows of each job in it: a laptop, or the office.
class Holder: CustomStringConvertible {
    let description: String
    var store: Store
    var references: [JobID: Reference] = [:]
    /// Of each job, changes since everything that is held of it was last looked at.
    var changesSinceLook: [JobID: Int] = [:]
    var looks = 0
    /// There may be something of removed jobs to free.
    var isFreeing = false

    init(_ description: String, store: Store) {
        self.description = description
        self.store = store
    }

    subscript(job: JobID) -> Reference { references[job] ?? Reference() }

    var jobs: [JobID] { references.keys.sorted() }
}
