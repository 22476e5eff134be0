package import CRDT
import GRDB

/// What can go wrong in the store. `description` is one sentence that says what to do and is safe for logs;
/// `debugDescription` adds the cause.
package struct StoreError: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    package enum Code: String, Sendable {
        case newerThanProgram
        case olderThanProgram
        case otherRole
        case diskFull
        case readOnly
        case damaged
        case busy
        case unknownJob
        case removedJob
        case notLate
        case readTooSlow
        case historyChanged
        case replacedFile
        case other
    }

    package let code: Code
    package let description: String
    package let cause: String?

    package init(_ code: Code, _ description: String, cause: String? = nil) {
        self.code = code
        self.description = description
        self.cause = cause
    }

    package var debugDescription: String {
        cause.map { "\(code.rawValue): \(description) (\($0))" } ?? "\(code.rawValue): \(description)"
    }

    package static func unknownJob(_ job: JobID) -> StoreError {
        StoreError(.unknownJob, "There is no job \(job) here; 'muster job list' shows the jobs.")
    }

    package static let replacedFile = StoreError(
        .replacedFile,
        "The store's file was replaced or deleted while the program ran, so nothing can be saved; start it again.")

    /// Wraps what SQLite reports.
    package init(_ error: any Error) {
        if let error = error as? StoreError {
            self = error
            return
        }
        let cause = String(describing: error)
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_FULL:
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
