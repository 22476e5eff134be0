package import CRDT
import Storage

/// What a backup holds that this laptop's store does not.
package struct BackupDifference: Sendable {
    /// A job of which the backup holds something.
    package struct Job: Sendable {
        /// Its id.
        package let id: JobID
        /// As the backup calls it.
        package let name: String
        /// Nothing of it is known here.
        package let isNew: Bool
        /// How many transforms of it are in the backup alone; where a journal has parted, those from there on.
        package let transforms: UInt64
        /// Journals of which this store holds another content.
        package let forks: Int
    }

    /// How many jobs the backup knows, removed ones too.
    package internal(set) var jobCount = 0
    /// Of which it holds more, ascending by id.
    package internal(set) var jobs: [Job] = []
    /// Jobs that have ended in the backup and not here. They are left as they are.
    package internal(set) var endedThere: [(id: JobID, name: String)] = []
    /// Asked of the server, without an answer, and in no journal here.
    package internal(set) var requests: [(job: JobID, request: MutationRequest)] = []
}

/// Journal by journal, what two stores hold of a job.
struct BackupComparison {
    let store: Store
    let backup: Store

    enum Standing: Hashable {
        case held
        /// The backup goes on from where this store's ends.
        case ahead(of: UInt64)
        /// They have parted (rule R9), and are the same up to here.
        case forked(after: UInt64)
        /// The backup's cannot be read, or is not what it says of itself.
        case unreadable

        var isForked: Bool { if case .forked = self { true } else { false } }
    }

    struct Journal {
        let replica: ReplicaID
        let standing: Standing
        let transforms: UInt64

        init(_ entry: VersionVector.Entry, _ standing: Standing) {
            replica = entry.replica
            self.standing = standing
            transforms =
                switch standing {
                case .held, .unreadable: 0
                case .ahead(let sequence), .forked(let sequence): entry.head.sequence - sequence
                }
        }
    }

    /// How a job stands here and there.
    struct Job {
        var journals: [Journal] = []
        var isKnown = false
        /// It has ended there and not here, where it may not be known.
        var isEndedThere = false

        var differing: [Journal] { journals.filter { $0.standing != .held } }
    }

    func job(_ id: JobID) async throws -> Job {
        let there = try await backup.holdings(of: id)
        guard let here = try await holdingsHere(of: id) else {
            var job = Job(isEndedThere: there.removal != nil)
            guard !job.isEndedThere else { return job }
            job.journals = there.vector.entries.map { Journal($0, .ahead(of: 0)) }
            return job
        }
        var job = Job(isKnown: true)
        job.isEndedThere = there.removal != nil && here.removal == nil
        guard !job.isEndedThere else { return job }
        for entry in there.vector.entries {
            let known = here.vector[entry.replica]
            let standing: Standing
            if here.removal != nil {
                // What went with the job cannot be compared any more.
                standing = entry.head.sequence > known.sequence ? .ahead(of: known.sequence) : .held
            } else {
                standing = try await self.standing(of: entry, in: id, here: known)
            }
            job.journals.append(Journal(entry, standing))
        }
        return job
    }

    private func holdingsHere(of job: JobID) async throws -> JobHoldings? {
        do { return try await store.holdings(of: job) } catch let error as StoreError where error.code == .unknownJob {
            return nil
        }
    }

    private func standing(
        of entry: VersionVector.Entry, in job: JobID, here known: JournalHead
    ) async throws -> Standing {
        guard known.sequence > 0 else { return .ahead(of: 0) }
        let isLonger = entry.head.sequence > known.sequence
        // Where the shorter one ends the longer one has the same digest, unless they have parted.
        let (end, longer) = isLonger ? (known, backup) : (entry.head, store)
        let found: (head: JournalHead, changeHash: UInt64)?
        do { found = try await longer.boundary(of: entry.replica, job: job, at: end.sequence) } catch {
            guard longer === backup else { throw error }
            return .unreadable
        }
        guard found?.head != end else { return isLonger ? .ahead(of: known.sequence) : .held }
        // What parts does so before either ends: else the file says something else of the journal than what it holds of it.
        guard let same = try? await commonEnd(of: entry.replica, in: job, before: end.sequence), same < end.sequence
        else { return .unreadable }
        return .forked(after: same)
    }

    /// The last place at which a journal that has parted is the same on both sides, where a change ends.
    private func commonEnd(of replica: ReplicaID, in job: JobID, before end: UInt64) async throws -> UInt64 {
        var same: UInt64 = 0
        var other = end
        while same < other {
            let middle = same + (other - same + 1) / 2
            let here = try await store.boundary(of: replica, job: job, at: middle)?.head
            let there = try await backup.boundary(of: replica, job: job, at: middle)?.head
            // A chain: where the digests are the same, so is all before.
            if let here, here == there { same = here.sequence } else { other = middle - 1 }
        }
        return same
    }

    /// All of it, for a person to look at.
    func difference() async throws -> BackupDifference {
        var difference = BackupDifference()
        for (id, _) in try await backup.vectors() {
            difference.jobCount += 1
            let job = try await job(id)
            let name = (try? await backup.job(id).name) ?? id.text
            if job.isEndedThere {
                difference.endedThere.append((id, name))
                continue
            }
            let differing = job.differing
            guard !differing.isEmpty || !job.isKnown else { continue }
            difference.jobs.append(
                BackupDifference.Job(
                    id: id, name: name, isNew: !job.isKnown,
                    // Of a file that lies about millions of journals the sum may be too great.
                    transforms: differing.reduce(0) { max($0, $0 &+ $1.transforms) },
                    forks: differing.count { $0.standing.isForked }))
            for asked in (try? await backup.pendingRequests(of: id)) ?? [] {
                if job.isKnown, try await store.request(asked.request.token, job: id) != nil { continue }
                difference.requests.append((id, asked.request))
            }
        }
        return difference
    }
}
