package import Inventory

extension JobKind: Codable {}

/// The server's word on a job and what waits to change it.
package struct ShownState: Codable, Hashable, Sendable {
    /// `scheduled`, `dispatched`, `inProgress`, `awaitingSignature`, `completed` or `cancelled`; null before a server said.
    @Nullable package var published: String?
    /// The state that queued changes would give; null when none is queued.
    @Nullable package var pending: String?

    package init(published: String? = nil, pending: String? = nil) {
        self.published = published
        self.pending = pending
    }
}

/// A line of `muster job list`.
package struct JobListEntry: Codable, Hashable, Sendable {
    package var id: String
    package var name: String
    package var kind: JobKind
    package var state: ShownState
    /// Whether it was removed as a whole; it is listed as long as it has late work.
    package var isRemoved: Bool
    /// Items that are not removed.
    package var items: Int
    package var removed: Int
    /// Concurrent edits and duplicate barcodes together.
    package var conflicts: Int
    /// The time of the latest change; null for a job without any.
    @Nullable package var updatedAt: Timestamp?

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
package struct JobDetails: Codable, Hashable, Sendable {
    package var id: String
    package var name: String
    package var kind: JobKind
    package var state: ShownState
    /// Null until somebody has signed.
    @Nullable package var signature: Signature?
    /// Whether it was removed as a whole.
    package var isRemoved: Bool
    /// Items that are not removed.
    package var items: Int
    package var removed: Int
    package var volume: Volume
    /// Concurrent edits and duplicate barcodes together: the length of what `muster job conflicts` lists.
    package var conflicts: Int
    /// Changes that came too late and wait for a person: the length of what `muster job late` lists.
    package var late: Int
    /// Connected devices that lack something of this job.
    package var peersBehind: [PeerBehind]
    /// Whether the connected devices hold all of this job, if any is connected.
    package var sync: SyncState
    /// Per replica id, the highest sequence up to which the whole journal is here.
    package var vector: [String: UInt64]
    /// SHA-256 of the canonical export, 64 hexadecimal digits.
    package var digest: String
    /// The time of the latest change; null for a job without any.
    @Nullable package var updatedAt: Timestamp?

    package init(
        id: String, name: String, kind: JobKind, state: ShownState, signature: Signature? = nil,
        isRemoved: Bool = false, items: Int, removed: Int, volume: Volume,
        conflicts: Int, late: Int = 0, peersBehind: [PeerBehind], sync: SyncState,
        vector: [String: UInt64], digest: String,
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
        self.vector = vector
        self.digest = digest
        self.updatedAt = updatedAt
    }
}

/// A device and how many transforms of the job it lacks.
package struct PeerBehind: Codable, Hashable, Sendable {
    package var deviceID: String
    @Nullable package var name: String?
    package var transforms: Int

    package init(deviceID: String, name: String?, transforms: Int) {
        self.deviceID = deviceID
        self.name = name
        self.transforms = transforms
    }
}

/// `POST /v1/jobs`.
package struct CreateJobRequest: Codable, Hashable, Sendable {
    package var name: String
    package var kind: JobKind?
    /// 1 to 64 of `A–Z a–z 0–9 . _ -`; a new UUIDv7 when absent.
    package var id: String?

    package init(name: String, kind: JobKind? = nil, id: String? = nil) {
        self.name = name
        self.kind = kind
        self.id = id
    }
}

/// The full id of what a request made or changed: `{"id": "…"}`.
package struct Identified: Codable, Hashable, Sendable {
    package var id: String

    package init(id: String) {
        self.id = id
    }
}
