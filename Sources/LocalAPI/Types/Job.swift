package import HTTPCoding
package import Inventory

extension JobKind: Codable {
    /// Reads one of the words; another is refused with all of them.
    package init(from decoder: any Decoder) throws {
        guard let kind = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) else {
            let words = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw JSONExpectation("one of \(words)").fault(at: decoder)
        }
        self = kind
    }
}

/// The server's word on a job and what waits to change it.
package struct ShownState: Codable, Hashable, Sendable {
    /// `scheduled`, `dispatched`, `inProgress`, `awaitingSignature`, `completed` or `cancelled`; null before a server
    /// said.
    @Nullable package var published: String?
    /// The state that queued changes would give; null when none is queued.
    @Nullable package var pending: String?

    /// Both texts are raw values of `JobState`.
    package init(published: String? = nil, pending: String? = nil) {
        self.published = published
        self.pending = pending
    }
}

/// A line of `muster job list`.
package struct JobListEntry: Codable, Hashable, Sendable {
    /// The full id: 1 to 64 of `A–Z a–z 0–9 . _ -`, the first no dot.
    package var id: String
    /// As somebody has renamed it last, else as the office calls it, else as its creator did; its id where no name is known.
    package var name: String
    /// What it is for; `inventory` where nobody has said.
    package var kind: JobKind
    /// The server's state, and the one that is asked for.
    package var state: ShownState
    /// Whether it was removed as a whole; it is listed as long as it has late work.
    package var isRemoved: Bool
    /// Items that are not removed.
    package var items: Int
    /// Items with a tombstone (rule R2).
    package var removed: Int
    /// Concurrent edits and duplicate barcodes together.
    package var conflicts: Int
    /// The time of the latest change; null for a job without any.
    @Nullable package var updatedAt: Timestamp?

    /// `updatedAt` is the greatest stamp of its changes here, in corrected time.
    package init(
        id: String, name: String, kind: JobKind, state: ShownState, isRemoved: Bool = false, items: Int, removed: Int,
        conflicts: Int, updatedAt: Timestamp?
    ) {
        self.id = id
        self.name = name
        self.kind = kind
        self.state = state
        self.isRemoved = isRemoved
        self.items = items
        self.removed = removed
        self.conflicts = conflicts
        self.updatedAt = updatedAt
    }
}

/// What `muster job show` shows.
package struct JobDetails: Codable, Hashable, Sendable, Tagged {
    /// Another one whenever the job or something in it has changed.
    @Unencoded package var entityTag: String? = nil
    /// The full id: 1 to 64 of `A–Z a–z 0–9 . _ -`, the first no dot.
    package var id: String
    /// As somebody has renamed it last, else as the office calls it, else as its creator did; its id where no name is known.
    package var name: String
    /// What it is for; `inventory` where nobody has said.
    package var kind: JobKind
    /// The server's state, and the one that is asked for.
    package var state: ShownState
    /// Null until somebody has signed.
    @Nullable package var signature: Signature?
    /// Whether it was removed as a whole.
    package var isRemoved: Bool
    /// Items that are not removed.
    package var items: Int
    /// Items with a tombstone (rule R2).
    package var removed: Int
    /// Of all items that are not removed; one of unknown volume counts as nothing.
    package var volume: Volume
    /// Concurrent edits and duplicate barcodes together: the length of what `muster job conflicts` lists.
    package var conflicts: Int
    /// Changes that came too late and wait for a person: the length of what `muster job late` lists.
    package var late: Int
    /// Connected devices that lack something of this job.
    package var peersBehind: [PeerBehind]
    /// Whether the connected devices hold all of this job, if any is connected.
    package var sync: SyncState
    /// Whether this laptop is on it.
    package var membership: JobMembership
    /// Per replica id, the highest sequence up to which the whole journal is here.
    package var vector: [String: UInt64]
    /// SHA-256 of the canonical export, 64 hexadecimal digits; null when it was not asked for and nobody has made it since the
    /// last change.
    @Nullable package var digest: String?
    /// The time of the latest change; null for a job without any.
    @Nullable package var updatedAt: Timestamp?

    /// `late` is 0 as long as the job lives; `peersBehind` leaves out whoever lacks nothing.
    package init(
        id: String, name: String, kind: JobKind, state: ShownState, signature: Signature? = nil,
        isRemoved: Bool = false, items: Int, removed: Int, volume: Volume,
        conflicts: Int, late: Int = 0, peersBehind: [PeerBehind], sync: SyncState,
        membership: JobMembership = .everybody, vector: [String: UInt64], digest: String?,
        updatedAt: Timestamp?
    ) {
        self.id = id
        self.name = name
        self.kind = kind
        self.state = state
        self.signature = signature
        self.isRemoved = isRemoved
        self.items = items
        self.removed = removed
        self.volume = volume
        self.conflicts = conflicts
        self.late = late
        self.peersBehind = peersBehind
        self.sync = sync
        self.membership = membership
        self.vector = vector
        self.digest = digest
        self.updatedAt = updatedAt
    }
}

/// A device and how many transforms of the job it lacks.
package struct PeerBehind: Codable, Hashable, Sendable {
    /// 64 hexadecimal digits.
    package var deviceID: String
    /// The host's name, for people.
    @Nullable package var name: String?
    /// How many it lacks, as far as it has acknowledged; 1 at least.
    package var transforms: Int

    /// There is none for a device that lacks nothing.
    package init(deviceID: String, name: String?, transforms: Int) {
        self.deviceID = deviceID
        self.name = name
        self.transforms = transforms
    }
}

/// `POST /v1/jobs`.
package struct CreateJobRequest: Codable, Hashable, Sendable, ClosedBody {
    /// 1 to 256 bytes without control characters, white space around it taken off; else 422.
    package var name: String
    /// What it is for; `inventory` when absent.
    package var kind: JobKind?
    /// 1 to 64 of `A–Z a–z 0–9 . _ -`, the first no dot; a new UUIDv7 when absent.
    package var id: String?
    /// Laptops that are to receive it, by name, id, or a unique beginning of one, this one besides; every laptop when absent.
    package var laptops: [String]?

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case name, kind, id, laptops }

    /// An `id` that is here already is refused with 409 `jobExists`.
    package init(name: String, kind: JobKind? = nil, id: String? = nil, laptops: [String]? = nil) {
        self.laptops = laptops
        self.name = name
        self.kind = kind
        self.id = id
    }
}

/// The full id of what a request made or changed: `{"id": "…"}`.
package struct Identified: Codable, Hashable, Sendable, Tagged {
    /// The whole id of a job or an item, whatever name or prefix the request had.
    package var id: String
    /// Absent where the job is neither over nor signed for.
    package var amends: AmendedJob?
    /// Of the item as it is with what was written.
    @Unencoded package var entityTag: String? = nil

    /// Whether `id` is that of a job or an item, the request tells.
    package init(id: String, amends: AmendedJob? = nil, entityTag: String? = nil) {
        self.id = id
        self.amends = amends
        self.entityTag = entityTag
    }
}

/// `PATCH /v1/jobs/{job}`: what the job is called from now on, for everybody.
package struct RenameJobRequest: Codable, Hashable, Sendable, ClosedBody {
    /// As that of a new job.
    package var name: String

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case name }

    /// A name that cannot be is refused with 422 `invalidValue`.
    package init(name: String) {
        self.name = name
    }
}
