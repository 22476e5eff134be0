extension MutationRequest {
    /// Of a lane or a kind, in bytes: as long as a job's id may be.
    package static let longestName = 64
    /// Of a payload, in bytes: 64 KiB.
    package static let longestPayload = 64 << 10

    /// Whether lane, kind and payload are within their bounds.
    package var isWellFormed: Bool {
        JobID.isSpelling(lane) && JobID.isSpelling(kind) && payload.count <= Self.longestPayload && after != token
    }
}
