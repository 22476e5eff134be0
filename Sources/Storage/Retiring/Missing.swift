package import CRDT
import GRDB

/// What a store waits for before it can say to hold all of a job.
struct Missing {
    /// Transforms that it was told are forgotten, without a word which items they were of.
    let unexplained: UInt64
    /// Removals from the future.
    let heldRemovals: Int

    init(job: Int64, in db: Database) throws {
        let count = try Int64.fetchOne(
            db, sql: "SELECT sum(last - first + 1) FROM unexplained WHERE job = ?", arguments: [job])
        unexplained = UInt64(bitPattern: count ?? 0)
        heldRemovals = try HeldTable.removals(job: job, in: db).count
    }

    /// For people: what is wrong and what to do.
    var sentence: String {
        var missing: [String] = []
        if unexplained > 0 {
            missing.append("what \(unexplained) forgotten transform\(unexplained == 1 ? " was" : "s were") about")
        }
        if heldRemovals > 0 {
            let removals = "\(heldRemovals) removal\(heldRemovals == 1 ? "" : "s")"
            missing.append("\(removals) whose time has not come ('muster clock')")
        }
        let reason = missing.isEmpty ? "" : ": it waits for " + missing.joined(separator: " and ")
        return "This laptop does not hold all of the job yet\(reason); connect it to a laptop that does, or try again "
            + "in \(Store.patience / 60_000) minutes, when it goes on with what it has."
    }
}

extension Store {
    /// Jobs of which this store was told that something is forgotten, but not what: they may show what is gone
    /// elsewhere. Ascending.
    package func incompleteJobs() async throws -> [JobID] {
        try await read { db in
            try String.fetchAll(
                db, sql: "SELECT id FROM job WHERE number IN (SELECT job FROM unexplained) ORDER BY id"
            ).compactMap { JobID($0) }
        }
    }
}
