package import HTTPCoding

/// The answer of `POST /v1/restore`: what a backup brings that is not here, or has brought.
package struct RestoreReport: Codable, Hashable, Sendable {
    /// Whether it was only looked at.
    package var isPreview: Bool
    /// Of the laptop whose store it is a copy of, 64 hexadecimal digits.
    package var deviceID: String
    /// Whether that is this laptop.
    package var isOwn: Bool
    /// The time of the newest change in it, by its author's clock; null where there is none.
    @Nullable package var newestChangeAt: Timestamp?
    /// How many jobs it knows, removed ones too.
    package var jobs: Int
    /// Those of which it holds something that was not here, sorted by id.
    package var restored: [RestoredJob]
    /// Jobs that have ended in the backup and not here: they are left as they are.
    package var endedThere: [NamedJob]
    /// What was asked of the server and was known to the backup alone, without an answer; it is asked for again.
    package var requests: [RestoredRequest]
    /// How many transforms came in; of a preview 0.
    package var transforms: UInt64
    /// Journals of which something was not taken.
    package var leftOut: [LeftOutJournal]

    /// Takes all as it is.
    package init(
        isPreview: Bool, deviceID: String, isOwn: Bool, newestChangeAt: Timestamp?, jobs: Int,
        restored: [RestoredJob], endedThere: [NamedJob], requests: [RestoredRequest], transforms: UInt64 = 0,
        leftOut: [LeftOutJournal] = []
    ) {
        self.isPreview = isPreview
        self.deviceID = deviceID
        self.isOwn = isOwn
        self.newestChangeAt = newestChangeAt
        self.jobs = jobs
        self.restored = restored
        self.endedThere = endedThere
        self.requests = requests
        self.transforms = transforms
        self.leftOut = leftOut
    }
}

/// A job of which a backup holds something that was not here.
package struct RestoredJob: Codable, Hashable, Sendable {
    /// The full id.
    package var id: String
    /// As the backup calls it.
    package var name: String
    /// Whether nothing of it was known here.
    package var isNew: Bool
    /// How many transforms the backup alone has.
    package var transforms: UInt64
    /// How many journals had another content here; they are put together.
    package var forks: Int

    /// Takes all as it is.
    package init(id: String, name: String, isNew: Bool, transforms: UInt64, forks: Int) {
        self.id = id
        self.name = name
        self.isNew = isNew
        self.transforms = transforms
        self.forks = forks
    }
}

/// A job, and what it is called.
package struct NamedJob: Codable, Hashable, Sendable {
    /// The full id.
    package var id: String
    /// As the backup calls it.
    package var name: String

    /// Takes both as they are.
    package init(id: String, name: String) {
        self.id = id
        self.name = name
    }
}

/// A request to the server that a backup has brought.
package struct RestoredRequest: Codable, Hashable, Sendable {
    /// Its token.
    package var token: String
    /// The full id of its job.
    package var job: String
    /// What is asked for, as in the queue.
    package var kind: String

    /// Takes all as it is.
    package init(token: String, job: String, kind: String) {
        self.token = token
        self.job = job
        self.kind = kind
    }
}

/// A journal of which a backup holds something that was not taken.
package struct LeftOutJournal: Codable, Hashable, Sendable {
    /// Why not.
    package enum Reason: String, Codable, Hashable, Sendable, CaseIterable {
        /// Nobody of this laptop's fleet has written it.
        case unvouched
        /// It is not what its author has signed.
        case damaged
        /// It is the server's word, and not what the server says here.
        case serversWord
        /// It parts from what is here, and could not be put together.
        case forked
    }

    /// The full id of its job.
    package var job: String
    /// 32 hexadecimal digits.
    package var replicaID: String
    /// Why.
    package var reason: Reason

    /// Takes all as it is.
    package init(job: String, replicaID: String, reason: Reason) {
        self.job = job
        self.replicaID = replicaID
        self.reason = reason
    }
}
