package import HTTPCoding

/// The answer of `GET /v1/jobs/{job}/check`: this device's copy of a job beside those of the other laptops.
package struct JobCheck: Codable, Hashable, Sendable {
    /// The full id.
    package var job: String
    /// SHA-256 of the canonical export here.
    package var digest: String
    /// Whether everybody who takes part is connected and holds the same.
    package var isSame: Bool
    /// What the outcomes of all devices come to; decides what `muster job check` exits with.
    package var comparison: Comparison
    /// The connected devices, then laptops that take part and are away.
    package var devices: [DeviceCheck]

    /// All devices together: a difference weighs more than what cannot be known.
    package enum Comparison: String, Codable, Hashable, Sendable, CaseIterable {
        case same
        case different
        /// What could be compared is the same; somebody who takes part is away or did not answer.
        case unknown
        /// No device is connected, and nobody else takes part as far as is known: there was nothing to compare with.
        case notConnected
    }

    /// Works out `comparison` and `isSame` from the outcomes of the devices.
    package init(job: String, digest: String, devices: [DeviceCheck]) {
        self.job = job
        self.digest = digest
        let outcomes = Set(devices.map(\.outcome))
        comparison =
            devices.isEmpty
            ? .notConnected
            : !outcomes.isDisjoint(with: [.different, .absent])
                ? .different : outcomes == [.same] ? .same : .unknown
        isSame = comparison == .same
        self.devices = devices
    }
}

/// Another device's copy of the job beside this one's.
package struct DeviceCheck: Codable, Hashable, Sendable {
    /// How the copies compare: `same` and `different` go by the two digests.
    package enum Outcome: String, Codable, Hashable, Sendable, CaseIterable {
        case same
        /// Something is missing here, there, or on both sides.
        case different
        /// The device does not hold the job at all.
        case absent
        /// The device did not answer in time.
        case unanswered
        /// The laptop takes part in the job and is not connected.
        case away
    }

    /// 64 hexadecimal digits; null for a laptop that was never met.
    @Nullable package var deviceID: String?
    /// The host's name; null as long as no change that has come here tells it.
    @Nullable package var name: String?
    /// Of one that is `away`, what else is told is of when it was last connected.
    package var outcome: Outcome
    /// Its digest of the job, if it told one.
    @Nullable package var digest: String?
    /// When a laptop that is away was last connected; null when it never was.
    @Nullable package var heardAt: Timestamp?
    /// Whether it is known what the device holds, or held when it was last connected.
    package var isHoldingKnown: Bool
    /// What this device holds and the other lacks; of one that is away, lacked when it was last connected.
    package var missingThere: [MissingRange]
    /// What the other device holds and this one lacks.
    package var missingHere: [MissingRange]

    /// A digest makes `isHoldingKnown` true, whatever is given for it.
    package init(
        deviceID: String?, name: String?, outcome: Outcome, digest: String? = nil, heardAt: Timestamp? = nil,
        isHoldingKnown: Bool = false, missingThere: [MissingRange] = [], missingHere: [MissingRange] = []
    ) {
        self.deviceID = deviceID
        self.name = name
        self.outcome = outcome
        self.digest = digest
        self.heardAt = heardAt
        self.isHoldingKnown = isHoldingKnown || digest != nil
        self.missingThere = missingThere
        self.missingHere = missingHere
    }
}

/// Transforms `first` to `last` (both included) of one replica's journal.
package struct MissingRange: Codable, Hashable, Sendable {
    /// 32 hexadecimal digits.
    package var replicaID: String
    /// The host that wrote it, if known.
    @Nullable package var replicaName: String?
    /// The sequence of the first missing transform, from 1.
    package var first: UInt64
    /// The sequence of the last missing one, not less than `first`.
    package var last: UInt64
    /// The first items, twenty at most, that these transforms touch, where this device holds them.
    package var items: [MissingItem]
    /// How many items they touch; null where this device does not hold them.
    @Nullable package var itemCount: Int?

    /// What this device itself lacks has no `items` and no `itemCount`.
    package init(
        replicaID: String, replicaName: String? = nil, first: UInt64, last: UInt64, items: [MissingItem] = [],
        itemCount: Int? = nil
    ) {
        self.replicaID = replicaID
        self.replicaName = replicaName
        self.first = first
        self.last = last
        self.items = items
        self.itemCount = itemCount
    }
}

/// An item that missing transforms touch, as people can find it.
package struct MissingItem: Codable, Hashable, Sendable {
    /// The full id.
    package var id: String
    /// Its name or barcode.
    @Nullable package var name: String?

    /// `name` is nil where the item has neither a name nor a barcode.
    package init(id: String, name: String? = nil) {
        self.id = id
        self.name = name
    }
}
