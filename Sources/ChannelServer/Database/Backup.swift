import Storage
import Systemd

/// A copy of the database, made while a server may be using it.
package enum Backup {
    /// - Throws: `StartProblem`.
    package static func write(of databasePath: String, to path: String) throws(StartProblem) {
        do {
            try Store.backUp(from: databasePath, to: path)
        } catch let failure as BackupFailure {
            throw problem(failure, databasePath, path)
        } catch {
            throw StartProblem(.tryAgain, "The backup failed and left nothing behind: \(StoreError(error).explanation)")
        }
    }

    private static func problem(_ failure: BackupFailure, _ databasePath: String, _ path: String) -> StartProblem {
        switch failure {
        case .exists: StartProblem(.badData, "\(path) exists and was left as it is; name a new file.")
        case .noStore: StartProblem(.badData, "There is no database at \(databasePath); name it with --database.")
        case .notWritable(let reason):
            StartProblem(.notPermitted, "\(path) cannot be written (\(reason)); name a file in another directory.")
        }
    }
}
