package import CRDT

/// The state of a job, which the server owns.
package enum PublishedJobState: String, CaseIterable, Sendable {
    case scheduled
    case dispatched
    case inProgress
    case awaitingSignature
    case completed
    case cancelled

    /// The states that may follow. Nothing leaves `completed` and `cancelled`.
    package var successors: [PublishedJobState] {
        switch self {
        case .scheduled: [.dispatched, .cancelled]
        case .dispatched: [.inProgress, .cancelled]
        case .inProgress: [.awaitingSignature, .cancelled]
        // Back, when the customer does not sign.
        case .awaitingSignature: [.completed, .inProgress, .cancelled]
        case .completed, .cancelled: []
        }
    }
}

/// What the server publishes about a job, by name.
package enum PublishedName {
    package static let state: FieldName = "state"
    package static let name: FieldName = "name"
    package static let kind: FieldName = "kind"
    /// JSON: who signed, the digest that the customer saw, and the server's own at that moment.
    package static let signature: FieldName = "signature"
}

/// What a mutation asks for, once its payload has been read.
package enum JobCommand: Hashable, Sendable {
    case open(name: String, kind: JobKind)
    case advance(to: PublishedJobState)
    /// - Parameter signature: what is published when the job waits for one.
    case signOff(signature: String)
}

/// Decides which changes of a job's state are allowed: a value, so that the server and whoever predicts it agree.
package struct JobStateMachine: Hashable, Sendable {
    /// Nil before the job was opened.
    package private(set) var state: PublishedJobState?

    package init(state: PublishedJobState?) {
        self.state = state
    }

    /// Why a command is refused, for good: one sentence.
    package struct Refusal: Error, Hashable, Sendable {
        package let sentence: String
    }

    /// What is published when the command is carried out.
    package mutating func apply(_ command: JobCommand) throws(Refusal) -> [PublishedValue] {
        switch command {
        case .open(let name, let kind):
            if let state { throw Refusal(sentence: "The job is open already and \(state.rawValue); open another one.") }
            state = .scheduled
            return [
                PublishedValue(name: PublishedName.name, value: name),
                PublishedValue(name: PublishedName.kind, value: kind.rawValue), published(.scheduled),
            ]
        case .advance(let next):
            let current = try opened()
            guard current.successors.contains(next) else {
                throw Refusal(sentence: Self.sentence(from: current, to: next))
            }
            state = next
            return [published(next)]
        case .signOff(let signature):
            let current = try opened()
            guard current == .awaitingSignature else {
                throw Refusal(
                    sentence: "The job is \(current.rawValue); it can be signed only while it is awaitingSignature.")
            }
            return [PublishedValue(name: PublishedName.signature, value: signature)]
        }
    }

    private func opened() throws(Refusal) -> PublishedJobState {
        guard let state else {
            throw Refusal(sentence: "The server has not opened this job; ask for openJob first.")
        }
        return state
    }

    private func published(_ state: PublishedJobState) -> PublishedValue {
        PublishedValue(name: PublishedName.state, value: state.rawValue)
    }

    private static func sentence(from current: PublishedJobState, to next: PublishedJobState) -> String {
        let allowed = current.successors.map(\.rawValue).joined(separator: ", ")
        let remedy = allowed.isEmpty ? "nothing follows that" : "it can become \(allowed)"
        return "The job is \(current.rawValue) and cannot become \(next.rawValue); \(remedy)."
    }
}
