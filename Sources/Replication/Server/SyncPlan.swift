package import CRDT

/// What has to be done so that a laptop and the server hold the same journals of a job.
package struct SyncPlan: Hashable, Sendable {
    /// A journal and after which sequence.
    package struct TransferTask: Hashable, Sendable {
        /// Who writes the journal; `ReplicaID.channel` for the server's.
        package let replica: ReplicaID
        /// The last sequence that the side which lacks the rest holds; 0 when it holds nothing.
        package internal(set) var after: UInt64
    }

    /// The channel first: what the server has decided is what people wait for.
    package private(set) var fetches: [TransferTask] = []
    /// What the server lacks of the laptops' journals, ascending by replica.
    package private(set) var uploads: [TransferTask] = []
    /// Two contents of one length: brought from its beginning, the server says which stays (rule R9).
    package private(set) var forks: [ReplicaID] = []
    /// The server holds less of its own journal than this laptop, or another content: it has been set back.
    package private(set) var isServerBehind = false
    /// What it lacks of its own journal then; it takes that only while its people have told it to.
    package private(set) var channelUpload: TransferTask?

    /// Compares two vectors of one job, journal by journal.
    package init(here: VersionVector, server: VersionVector) {
        let pairs = reconcile(here: here.heads, server: server.heads)
        for (replica, difference) in pairs {
            switch difference {
            case .onlyServer: fetches.append(TransferTask(replica: replica, after: 0))
            case .onlyHere where replica == .channel:
                isServerBehind = true
                channelUpload = TransferTask(replica: replica, after: 0)
            case .onlyHere: uploads.append(TransferTask(replica: replica, after: 0))
            case .both(let mine, let theirs):
                if mine.sequence < theirs.sequence {
                    fetches.append(TransferTask(replica: replica, after: mine.sequence))
                } else if replica == .channel {
                    isServerBehind = mine != theirs
                    if mine.sequence > theirs.sequence {
                        channelUpload = TransferTask(replica: replica, after: theirs.sequence)
                    }
                } else if mine.sequence > theirs.sequence {
                    uploads.append(TransferTask(replica: replica, after: theirs.sequence))
                } else if mine.contradicts(theirs) {
                    forks.append(replica)
                }
            }
        }
    }

    /// Whether nothing is to be moved. Two channels of one length and another content are for people: `isServerBehind`.
    package var isEmpty: Bool { fetches.isEmpty && uploads.isEmpty && forks.isEmpty && channelUpload == nil }
}

extension VersionVector {
    fileprivate var heads: [ReplicaID: JournalHead] {
        Dictionary(entries.map { ($0.replica, $0.head) }, uniquingKeysWith: { first, _ in first })
    }
}
