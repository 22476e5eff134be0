/// Where a job stands. It belongs to the server, which changes it only along the arrows of `next`.
package enum JobState: String, Hashable, Sendable, CaseIterable {
    case scheduled
    case dispatched
    case inProgress
    case awaitingSignature
    case completed
    case cancelled

    /// What may follow: the next one, cancelled before the job is completed, and back to work when the customer does not
    /// sign. Nothing follows the last two.
    package var next: [JobState] {
        switch self {
        case .scheduled: [.dispatched, .cancelled]
        case .dispatched: [.inProgress, .cancelled]
        case .inProgress: [.awaitingSignature, .cancelled]
        case .awaitingSignature: [.completed, .inProgress, .cancelled]
        case .completed, .cancelled: []
        }
    }

    /// Whether the server may go there from here in one step; never to the same state.
    package func allows(_ state: JobState) -> Bool {
        next.contains(state)
    }

    /// Whether nothing may follow: completed and cancelled.
    package var isFinal: Bool {
        next.isEmpty
    }
}
