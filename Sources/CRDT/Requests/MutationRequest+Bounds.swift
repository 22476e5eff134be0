extension MutationRequest {
    package static let longestName = 64
    package static let longestPayload = 64 << 10

    /// Whether lane, kind and payload are within their bounds.
    package var isWellFormed: Bool {
        // Both are spelt as a job's id is.
        JobID(lane) != nil && JobID(kind) != nil && payload.count <= Self.longestPayload && after != token
    }
}
