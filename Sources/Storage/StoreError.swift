package import CRDT
import GRDB

/// What can go wrong in the store. `description` is one sentence that says what to do and is safe for logs;
/// `debugDescription` adds the cause.
package struct StoreError: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// What went wrong, for programs.
    package enum Code: String, Sendable {
        /// A newer program wrote the store, which was left as it is.
        case newerThanProgram
        /// The store is of the time when tombstones were forgotten; it was left as it is.
        case olderThanProgram
        /// There is no copy of before an upgrade that could be put back; nothing was changed.
        case noSnapshot
        /// A laptop's store was opened as the server's, or the other way round; it was left as it is.
        case otherRole
        /// The disk is full; nothing was changed.
        case diskFull
        /// The file, or its directory, cannot be opened or written.
        case readOnly
        /// The file is no sound database, another program's, or gone; or a journal has a gap.
        case damaged
        /// What a peer showed as a branch of a forked journal is none that its author has signed; nothing was changed.
        case falseBranch
        /// Another process holds the file.
        case busy
        /// Nothing is known here of the job.
        case unknownJob
        /// The job has ended: it takes no edits and no requests any more (rule R10).
        case removedJob
        /// What this laptop writes in the job does not count any more: it was revoked.
        case cutOff
        /// A change that was to be decided is not listed as late, or not any more.
        case notLate
        /// What is written to is not as the writer has seen it; nothing was changed.
        case changedMeanwhile
        /// The time of a cursor over one state of the store is over.
        case readTooSlow
        /// A timeline lost a part that it had yet to read: the job was removed, or a branch given up.
        case historyChanged
        /// See `StoreError.replacedFile`.
        case replacedFile
        /// Anything else that SQLite or the disk reports; nothing was changed.
        case other
    }

    /// The kind of failure, by which a caller chooses its exit code or the status of its answer.
    package let code: Code
    /// One sentence for people, without what the system said.
    package let description: String
    /// What SQLite or the system said; nil for what the store itself has found.
    package let cause: String?

    /// Takes a sentence that says what is wrong and what to do.
    package init(_ code: Code, _ description: String, cause: String? = nil) {
        self.code = code
        self.description = description
        self.cause = cause
    }

    /// The code, the sentence and the cause, for the daemon's log.
    package var debugDescription: String { "\(code.rawValue): \(explanation)" }

    /// The sentence and the cause, where people see the log and nothing else.
    package var explanation: String { cause.map { "\(description) (\($0))" } ?? description }

    /// Nothing is known here of a job that was named.
    package static func unknownJob(_ job: JobID) -> StoreError {
        StoreError(.unknownJob, "There is no job \(job) here; 'muster job list' shows the jobs.")
    }

    /// What was to be written to is not as it was seen.
    static func changedMeanwhile(_ what: String) -> StoreError {
        StoreError(.changedMeanwhile, "\(what) has been changed meanwhile; look at it again, and decide anew.")
    }

    /// It would be acknowledged, and count nowhere.
    static let cutOff = StoreError(
        .cutOff,
        "This laptop was revoked, and what it writes in this job does not count: let it leave the fleet ('muster fleet leave') and join again."
    )

    /// It may be anybody's, in a directory that was named by mistake.
    static func foreign(_ path: String) -> StoreError {
        StoreError(
            .damaged,
            "\(path) is another program's database, and no store of Muster; move it aside. Nothing was changed.")
    }

    /// Nothing can be signed, and so nothing is written.
    package static let noKey = StoreError(
        .other, "The laptop has no key yet, and cannot sign what is written; start it again.")

    /// SQLite has committed, but into a file that no longer has the store's name: it counts as not written (rule R4).
    package static let replacedFile = StoreError(
        .replacedFile,
        "The store's file was replaced or deleted while the program ran, so nothing can be saved; start it again.")

    /// It may have come from elsewhere in the meantime.
    static let heldBranch = StoreError(
        .other, "What a peer showed as a branch of a journal is a part of what is here; nothing was changed.")

    /// - Parameter fault: what is wrong, to follow "it".
    static func falseBranch(_ fault: String) -> StoreError {
        StoreError(
            .falseBranch, "What a peer showed as a branch of a journal is none, it \(fault); nothing was changed.")
    }

    /// Wraps what SQLite reports.
    package init(_ error: any Error) {
        if let error = error as? StoreError {
            self = error
            return
        }
        // One line, also of a statement that has several.
        let cause = String(describing: error).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let error = error as? DatabaseError
        switch error?.resultCode {
        // The file beside the log that its readers share is made at the start, also on a disk that has no room for it.
        case .SQLITE_FULL,
            .SQLITE_IOERR where error?.extendedResultCode == .SQLITE_IOERR_SHMSIZE:
            self.init(.diskFull, "The disk is full; free some space, nothing was changed.", cause: cause)
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_CANTOPEN:
            self.init(
                .readOnly, "The store cannot be written; check the owner and mode of the state directory.", cause: cause
            )
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            self.init(
                .damaged,
                "The store is damaged; move the state directory aside and start again, the peers hold the inventory.",
                cause: cause)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(.busy, "Another process has the store open; stop it and try again.", cause: cause)
        case .SQLITE_IOERR:
            self.init(.other, "The disk reports an error; check it with 'dmesg', nothing was changed.", cause: cause)
        default:
            self.init(.other, "The store failed; see the daemon's log, nothing was changed.", cause: cause)
        }
    }
}
