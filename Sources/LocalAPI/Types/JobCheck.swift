/// The answer of `GET /v1/jobs/{job}/check`: this device's copy of a job beside that of every connected device.
package struct JobCheck: Codable, Hashable, Sendable {
    /// The full id.
    package var job: String
    /// SHA-256 of the canonical export here.
    package var digest: String
    /// Whether every connected device holds the same; true as well where none is connected, see `comparison`.
    package var isSame: Bool
    package var comparison: Comparison
    package var devices: [DeviceCheck]

    package enum Comparison: String, Codable, Hashable, Sendable, CaseIterable {
        case same
        case different
        /// No device is connected: there was nothing to compare with.
        case notConnected
    }

    package init(job: String, digest: String, isSame: Bool, devices: [DeviceCheck]) {
        self.job = job
        self.digest = digest
        self.isSame = isSame
        comparison = devices.isEmpty ? .notConnected : isSame ? .same : .different
        self.devices = devices
    }
}

package struct DeviceCheck: Codable, Hashable, Sendable {
    package enum Outcome: String, Codable, Hashable, Sendable, CaseIterable {
        case same
        /// Something is missing here, there, or on both sides.
        case different
        /// The device does not hold the job at all.
        case absent
        /// The device did not answer in time.
        case unanswered
    }

    package var deviceID: String
    @Nullable package var name: String?
    package var outcome: Outcome
    /// Its digest of the job, if it told one.
    @Nullable package var digest: String?
    /// What this device holds and the other lacks.
    package var missingThere: [MissingRange]
    /// What the other device holds and this one lacks.
    package var missingHere: [MissingRange]

    package init(
        deviceID: String, name: String?, outcome: Outcome, digest: String? = nil, missingThere: [MissingRange] = [],
        missingHere: [MissingRange] = []
    ) {
        self.deviceID = deviceID
        self.name = name
        self.outcome = outcome
        self.digest = digest
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
    package var first: UInt64
    package var last: UInt64

    package init(replicaID: String, replicaName: String? = nil, first: UInt64, last: UInt64) {
        self.replicaID = replicaID
        self.replicaName = replicaName
        self.first = first
        self.last = last
    }
}
