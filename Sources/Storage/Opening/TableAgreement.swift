import CRDT
import GRDB

/// What the tables say of each other in every store, whatever it has been through. A file in which they do not agree has lost something that
/// nobody would miss: a job whose journals are gone looks like one in which nothing was written.
enum TableAgreement {
    /// The first thing that does not agree; nil where all does.
    static func fault(in db: Database) throws -> String? {
        for (fault, rows) in faults where try Bool.fetchOne(db, sql: "SELECT EXISTS (\(rows))") ?? true { return fault }
        // Whoever lists the jobs passes over what is no id.
        let isNamed = try String.fetchAll(db, sql: "SELECT id FROM job").allSatisfy { JobID($0) != nil }
        return isNamed ? nil : "a job has no id"
    }

    private static let faults = [
        (
            "a place is beyond all journals",
            """
            SELECT 1 FROM segment WHERE NOT (1 <= first AND first <= last AND last <= \(ChangeLimits.sequence))
            UNION ALL SELECT 1 FROM removal WHERE sequence NOT BETWEEN 1 AND \(ChangeLimits.sequence)
            """
        ),
        // What is left under the number that a removed job had has no journals any more.
        (
            "a journal does not end where its rows do, or what went with its job",
            """
            SELECT 1 FROM (
                SELECT job, replica, sequence FROM journal
                UNION ALL SELECT job, replica, max(place) FROM (
                    SELECT job, replica, last AS place FROM segment WHERE job NOT IN (SELECT number FROM garbage)
                    UNION ALL SELECT job, replica, sequence FROM removal
                ) GROUP BY job, replica
            ) GROUP BY job, replica, sequence HAVING count(*) <> 2
            """
        ),
        // What was cut and written again, joined, or left by a job's end goes on from what was there before.
        (
            "a journal has a hole",
            """
            SELECT 1 FROM (
                SELECT first, ifnull(
                    lag(last) OVER (PARTITION BY job, replica ORDER BY last),
                    ifnull((SELECT sequence FROM removal
                        WHERE removal.job = segment.job AND removal.replica = segment.replica), 0)) AS before
                FROM segment WHERE job NOT IN (SELECT number FROM garbage)
            ) WHERE first <> before + 1
            """
        ),
        ("a journal is of no job", "SELECT 1 FROM journal WHERE job NOT IN (SELECT number FROM job)"),
        // A job comes with the first that is written in it.
        (
            "a job has no journal",
            "SELECT 1 FROM job WHERE NOT isRemoved AND number NOT IN (SELECT job FROM journal)"
        ),
        // A job that has ended has a name from its remover, and no items but its own (`ItemID.job`). Whoever ended it may have known none of
        // its journals, and no name.
        (
            "a job has ended and goes on",
            """
            SELECT 1 FROM job WHERE isRemoved NOT IN (0, 1)
                OR NOT isRemoved AND (name <> '' OR number IN (SELECT job FROM removal))
                OR isRemoved AND EXISTS (SELECT 1 FROM item WHERE item.job = job.number AND item.id > zeroblob(16))
            """
        ),
    ]
}

extension Database {
    /// Whether its file is as long as its pages: SQLite reads what the last one lacks as zeros.
    func isWhole(at path: String) throws -> Bool {
        let bytes = try Int.fetchOne(
            self, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        return Disk.length(of: path) ?? 0 >= bytes ?? 0
    }
}
