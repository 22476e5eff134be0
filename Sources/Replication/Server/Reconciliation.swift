package import CRDT

/// Two sides' things of one kind, compared by identity: the one place that says what the three cases are.
///
/// Jobs and their journals go through it, and any later kind that has an identity.
package enum Standpoint<Here, There> {
    /// Both have it: they may differ, and what it is decides how they meet.
    case both(Here, There)
    /// It came to be elsewhere, or this device has lost it: it is fetched.
    case onlyServer(There)
    /// It came to be here, or the server has lost it: it is brought. Nobody concludes that it was deleted; what is
    /// deleted says so itself (rule R2).
    case onlyHere(Here)
}

extension Standpoint: Sendable where Here: Sendable, There: Sendable {}

/// In order of the identities.
package func reconcile<Identity: Hashable & Comparable, Here, There>(
    here: [Identity: Here], server: [Identity: There]
) -> [(Identity, Standpoint<Here, There>)] {
    Set(here.keys).union(server.keys).sorted().compactMap { identity in
        switch (here[identity], server[identity]) {
        case (let mine?, let theirs?): (identity, .both(mine, theirs))
        case (nil, let theirs?): (identity, .onlyServer(theirs))
        case (let mine?, nil): (identity, .onlyHere(mine))
        case (nil, nil): nil
        }
    }
}

/// What has to be done so that a laptop and the server hold the same journals of a job.
package struct JournalErrands: Hashable, Sendable {
    /// A journal and after which sequence.
    package struct Errand: Hashable, Sendable {
        package let replica: ReplicaID
        package let after: UInt64
    }

    /// The channel first: what the server has decided is what people wait for.
    package private(set) var fetches: [Errand] = []
    package private(set) var uploads: [Errand] = []
    /// Two contents of one length: brought from its beginning, the server says which stays (rule R9).
    package private(set) var forks: [ReplicaID] = []
    /// The server holds less of its own journal than this laptop, or another content: it has been set back.
    package private(set) var isServerBehind = false
    /// What it lacks of its own journal then; it takes that only while its people have told it to.
    package private(set) var channelUpload: Errand?

    package init(here: VersionVector, server: VersionVector) {
        let pairs = reconcile(here: here.heads, server: server.heads)
        for (replica, standpoint) in pairs {
            switch standpoint {
            case .onlyServer: fetches.append(Errand(replica: replica, after: 0))
            case .onlyHere where replica == .channel:
                isServerBehind = true
                channelUpload = Errand(replica: replica, after: 0)
            case .onlyHere: uploads.append(Errand(replica: replica, after: 0))
            case .both(let mine, let theirs):
                if mine.sequence < theirs.sequence {
                    fetches.append(Errand(replica: replica, after: mine.sequence))
                } else if replica == .channel {
                    isServerBehind = mine != theirs
                    if mine.sequence > theirs.sequence {
                        channelUpload = Errand(replica: replica, after: theirs.sequence)
                    }
                } else if mine.sequence > theirs.sequence {
                    uploads.append(Errand(replica: replica, after: theirs.sequence))
                } else if mine.digest != theirs.digest {
                    forks.append(replica)
                }
            }
        }
    }

    package var isEmpty: Bool { fetches.isEmpty && uploads.isEmpty && forks.isEmpty && channelUpload == nil }
}

extension VersionVector {
    fileprivate var heads: [ReplicaID: JournalHead] {
        Dictionary(entries.map { ($0.replica, $0.head) }, uniquingKeysWith: { first, _ in first })
    }
}
