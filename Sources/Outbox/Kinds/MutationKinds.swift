package import CRDT
package import Inventory

/// The kinds of mutations. A new kind is a type in this file and a word in `all`; nothing else has to know of it.
package struct MutationKinds: Sendable {
    package static let all = MutationKinds([AdvanceState.self, OpenJob.self, SignOff.self])

    package let types: [any MutationKind.Type]

    package init(_ types: [any MutationKind.Type]) {
        self.types = types
    }

    package subscript(name: String) -> (any MutationKind.Type)? {
        types.first { $0.name == name }
    }

    /// Reads a request.
    package func mutation(of request: MutationRequest) throws(MutationRefusal) -> any MutationKind {
        guard let type = self[request.kind] else {
            throw MutationRefusal("'\(request.kind)' is not known here; update the software.")
        }
        guard let payload = FlatJSON(parsing: request.payload) else {
            throw MutationRefusal("The payload of '\(request.kind)' is not a JSON object of strings; ask anew.")
        }
        return try type.init(payload: payload)
    }

    /// What the server publishes when it carries a request out.
    package func effect(
        of request: MutationRequest, on job: JobStanding
    ) throws(MutationRefusal) -> [PublishedValue] {
        try mutation(of: request).effect(on: job)
    }

    /// What a person reads, also of a kind that is not known here.
    package func sentence(for request: MutationRequest) -> String {
        (try? mutation(of: request).sentence) ?? "\(request.kind) (not known to this version)"
    }
}

/// Moves a job to its next state.
package struct AdvanceState: MutationKind {
    package static let name = "advanceState"
    package static let lane = MutationKinds.jobLane
    package static let laneOrder = LaneOrder.firstInFirstOut
    package static let retryPolicy = RetryPolicy.standard
    package static let needsItems = false
    package static let examples = JobState.allCases.map { AdvanceState(to: $0) }

    package let state: JobState

    package init(to state: JobState) {
        self.state = state
    }

    package init(payload: FlatJSON) throws(MutationRefusal) {
        guard let text = payload["state"], let state = JobState(rawValue: text) else {
            throw MutationRefusal("The state is missing or unknown; give \(JobState.list(JobState.allCases)).")
        }
        self.init(to: state)
    }

    package var payload: FlatJSON { ["state": state.rawValue] }
    package var priority: UInt8 { 128 }

    package func effect(on job: JobStanding) throws(MutationRefusal) -> [PublishedValue] {
        guard let current = job.state else { throw .notOpen }
        if current == state { return [] }
        guard current.allows(state) else {
            let remedy = current.isFinal ? "nothing follows that" : "give \(JobState.list(current.next))"
            throw MutationRefusal("The job is \(current.rawValue) and cannot become \(state.rawValue); \(remedy).")
        }
        return [PublishedValue(name: .jobState, value: state.rawValue)]
    }

    package func overlay(on job: JobStanding) -> [PublishedValue] {
        (try? effect(on: job)) ?? []
    }

    package var sentence: String { "advance to \(state.rawValue)" }
}

/// Makes a job known to the office.
package struct OpenJob: MutationKind {
    package static let name = "openJob"
    package static let lane = MutationKinds.jobLane
    package static let laneOrder = LaneOrder.firstInFirstOut
    package static let retryPolicy = RetryPolicy.standard
    package static let needsItems = false
    package static let examples = JobKind.allCases.map { OpenJob(name: "Smith, 12 Elm \"Street\"", kind: $0) }

    package let jobName: String
    package let kind: JobKind

    package init(name: String, kind: JobKind) {
        jobName = name
        self.kind = kind
    }

    package init(payload: FlatJSON) throws(MutationRefusal) {
        guard let name = payload["name"], !name.isEmpty else {
            throw MutationRefusal("The job's name is missing; give one.")
        }
        guard let kind = JobKind(rawValue: payload["kind"] ?? JobKind.inventory.rawValue) else {
            let kinds = JobKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw MutationRefusal("The job's kind is unknown; give one of \(kinds).")
        }
        self.init(name: name, kind: kind)
    }

    package var payload: FlatJSON { ["name": jobName, "kind": kind.rawValue] }
    /// Nothing else of its job can succeed before it.
    package var priority: UInt8 { 192 }

    package func effect(on job: JobStanding) throws(MutationRefusal) -> [PublishedValue] {
        // Under whatever name: the crew's name for it stands among the items.
        if job.state != nil { return [] }
        return [
            PublishedValue(name: .jobName, value: jobName), PublishedValue(name: .jobKind, value: kind.rawValue),
            PublishedValue(name: .jobState, value: JobState.scheduled.rawValue),
        ]
    }

    package func overlay(on job: JobStanding) -> [PublishedValue] {
        (try? effect(on: job)) ?? []
    }

    package var sentence: String { "open the job '\(jobName)'" }
}

/// The customer has seen the inventory with this digest and signs for it.
package struct SignOff: MutationKind {
    package static let name = "signOff"
    package static let lane = MutationKinds.jobLane
    package static let laneOrder = LaneOrder.firstInFirstOut
    package static let retryPolicy = RetryPolicy.standard
    package static let needsItems = true
    package static let examples = [SignOff(digest: String(repeating: "0f", count: 32), name: "J. Smith")]

    package let digest: String
    package let signer: String

    package init(digest: String, name: String) {
        self.digest = digest
        signer = name
    }

    package init(payload: FlatJSON) throws(MutationRefusal) {
        guard let digest = payload["digest"], digest.utf8.count == 64, digest.allSatisfy(\.isHexDigit) else {
            throw MutationRefusal("The digest is missing or no SHA-256; give the one that 'muster job show' prints.")
        }
        guard let name = payload["name"], (1...1_024).contains(name.utf8.count) else {
            throw MutationRefusal("The name of who signs is missing or longer than 1 KiB; give it.")
        }
        self.init(digest: digest.lowercased(), name: name)
    }

    package var payload: FlatJSON { ["digest": digest, "name": signer] }
    package var priority: UInt8 { 160 }

    /// The two digests stand side by side: which of them is right, if they differ, is for people to find out.
    package func effect(on job: JobStanding) throws(MutationRefusal) -> [PublishedValue] {
        guard let current = job.state else { throw .notOpen }
        if isPublished(on: job) { return [] }
        guard current == .awaitingSignature else {
            throw MutationRefusal("The job is \(current.rawValue); advance it to awaitingSignature first.")
        }
        var signature: FlatJSON = payload
        if let digest = job.digest { signature["serverDigest"] = digest }
        return [PublishedValue(name: .signature, value: signature.text)]
    }

    package func overlay(on job: JobStanding) -> [PublishedValue] {
        guard job.state == .awaitingSignature, !isPublished(on: job) else { return [] }
        return [PublishedValue(name: .signature, value: payload.text)]
    }

    /// The same person has signed for the same inventory, and nobody has gone back to work since.
    private func isPublished(on job: JobStanding) -> Bool {
        guard job.state == .awaitingSignature || job.state == .completed,
            let published = job[.signature].flatMap({ FlatJSON(parsing: Array($0.utf8)) })
        else { return false }
        return published["digest"] == digest && published["name"] == signer
    }

    package var sentence: String { "sign off as \(signer)" }
}

extension MutationKinds {
    /// One lane for all that moves a job along: a signature belongs between two states.
    static let jobLane = "state"
}

extension MutationRefusal {
    fileprivate static let notOpen = MutationRefusal("The office does not know this job yet; open it first.")
}

extension JobState {
    fileprivate static func list(_ states: [JobState]) -> String {
        states.map(\.rawValue).joined(separator: ", ")
    }
}
