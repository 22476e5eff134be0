package import CRDT
package import Inventory

/// The kinds of mutations. A new kind is a type in this file and a word in `all`; nothing else has to know of it.
package struct MutationKinds: Sendable {
    /// The kinds that this version knows, on laptops and on the server.
    package static let all = MutationKinds([AdvanceState.self, OpenJob.self, SignOff.self])

    /// Each with another name.
    package let types: [any MutationKind.Type]

    /// Takes kinds whose names differ: of two with one name the first is found.
    package init(_ types: [any MutationKind.Type]) {
        self.types = types
    }

    /// Nil for a kind that this version does not know.
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
    /// `advanceState`, as it stands in journals for good.
    package static let name = "advanceState"
    /// `state`, with the other kinds that move a job along.
    package static let lane = MutationKinds.jobLane
    /// The oldest first: a state is asked for on top of the one before.
    package static let laneOrder = LaneOrder.firstInFirstOut
    /// 30 s for an answer; waits are doubled from 1 s to 5 min.
    package static let retryPolicy = RetryPolicy.standard
    /// The server looks at published state only.
    package static let needsItems = false
    /// One for each state.
    package static let examples = JobState.allCases.map { AdvanceState(to: $0) }

    /// The state that is asked for.
    package let state: JobState

    /// Takes any state; `effect` says whether it may follow.
    package init(to state: JobState) {
        self.state = state
    }

    /// Reads the member `state`; throws when it is missing or no `JobState`.
    package init(payload: FlatJSON) throws(MutationRefusal) {
        guard let text = payload["state"], let state = JobState(rawValue: text) else {
            throw MutationRefusal("The state is missing or unknown; give \(JobState.list(JobState.allCases)).")
        }
        self.init(to: state)
    }

    /// The member `state`, a raw value of `JobState`.
    package var payload: FlatJSON { ["state": state.rawValue] }
    /// Behind a signature and the opening of a job.
    package var priority: UInt8 { 128 }

    /// Publishes the state; nothing where the job is in it. Throws where no arrow leads there, or the job is not open.
    package func effect(on job: JobStanding) throws(MutationRefusal) -> [PublishedValue] {
        guard let current = job.state else { throw .notOpen }
        if current == state { return [] }
        guard current.allows(state) else {
            let remedy = current.isFinal ? "nothing follows that" : "give \(JobState.list(current.next))"
            throw MutationRefusal("The job is \(current.rawValue) and cannot become \(state.rawValue); \(remedy).")
        }
        return [PublishedValue(name: .jobState, value: state.rawValue)]
    }

    /// What `effect` would publish; nothing where it refuses.
    package func overlay(on job: JobStanding) -> [PublishedValue] {
        (try? effect(on: job)) ?? []
    }

    /// `advance to STATE`.
    package var sentence: String { "advance to \(state.rawValue)" }
}

/// Makes a job known to the office.
package struct OpenJob: MutationKind {
    /// `openJob`, as it stands in journals for good.
    package static let name = "openJob"
    /// `state`, with the other kinds that move a job along.
    package static let lane = MutationKinds.jobLane
    /// The oldest first: what the job needs to be open for waits behind.
    package static let laneOrder = LaneOrder.firstInFirstOut
    /// 30 s for an answer; waits are doubled from 1 s to 5 min.
    package static let retryPolicy = RetryPolicy.standard
    /// The server looks at published state only.
    package static let needsItems = false
    /// One for each kind of job.
    package static let examples = JobKind.allCases.map { OpenJob(name: "Smith, 12 Elm \"Street\"", kind: $0) }

    /// What the office is to call the job; not empty in a request that was read.
    package let jobName: String
    /// What the job is for.
    package let kind: JobKind

    /// Takes any name; an empty one is refused when the request is read.
    package init(name: String, kind: JobKind) {
        jobName = name
        self.kind = kind
    }

    /// Reads the members `name`, not empty, and `kind`, which is `inventory` where it is missing.
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

    /// The members `name` and `kind`.
    package var payload: FlatJSON { ["name": jobName, "kind": kind.rawValue] }
    /// Nothing else of its job can succeed before it.
    package var priority: UInt8 { 192 }

    /// Publishes name, kind and the state `scheduled`; nothing for a job that is open. Never throws.
    package func effect(on job: JobStanding) throws(MutationRefusal) -> [PublishedValue] {
        // Under whatever name: the crew's name for it stands among the items.
        if job.state != nil { return [] }
        return [
            PublishedValue(name: .jobName, value: jobName), PublishedValue(name: .jobKind, value: kind.rawValue),
            PublishedValue(name: .jobState, value: JobState.scheduled.rawValue),
        ]
    }

    /// What `effect` would publish.
    package func overlay(on job: JobStanding) -> [PublishedValue] {
        (try? effect(on: job)) ?? []
    }

    /// `open the job 'NAME'`.
    package var sentence: String { "open the job '\(jobName)'" }
}

/// The customer has seen the inventory with this digest and signs for it.
package struct SignOff: MutationKind {
    /// `signOff`, as it stands in journals for good.
    package static let name = "signOff"
    /// `state`, with the other kinds that move a job along.
    package static let lane = MutationKinds.jobLane
    /// The oldest first: a signature belongs between two states.
    package static let laneOrder = LaneOrder.firstInFirstOut
    /// 30 s for an answer; waits are doubled from 1 s to 5 min.
    package static let retryPolicy = RetryPolicy.standard
    /// The server sets its own digest of the items beside the customer's.
    package static let needsItems = true
    /// With a digest that no job has: as older versions ask, and with where the journals ended.
    package static let examples = [nil, "\(String(repeating: "1e", count: 16)):7"].map {
        SignOff(digest: String(repeating: "0f", count: 32), name: "J. Smith", vector: $0.flatMap(SignedVector.init))
    }

    /// SHA-256 of the canonical export that the customer saw: 64 lower-case hexadecimal digits.
    package let digest: String
    /// The name of who signs; what is read has 1 to 1,024 bytes.
    package let signer: String
    /// Where the journals ended whose inventory has that digest; nil in a request of an older version.
    package let vector: SignedVector?

    /// Takes all as they are; they are checked when the request is read.
    package init(digest: String, name: String, vector: SignedVector? = nil) {
        self.digest = digest
        signer = name
        self.vector = vector
    }

    /// Reads the members `digest`, in either case, `name`, and `vector` if there is one; throws for one that is none.
    package init(payload: FlatJSON) throws(MutationRefusal) {
        guard let digest = payload["digest"], digest.utf8.count == 64,
            digest.allSatisfy({ $0.isASCII && $0.isHexDigit })
        else {
            throw MutationRefusal("The digest is missing or no SHA-256; give the one that 'muster job show' prints.")
        }
        guard let name = payload["name"], (1...1_024).contains(name.utf8.count) else {
            throw MutationRefusal("The name of who signs is missing or longer than 1 KiB; give it.")
        }
        let vector = payload["vector"].map { SignedVector($0) }
        if case .some(.none) = vector {
            throw MutationRefusal(
                "The vector is none of at most \(SignedVector.longest) journals; leave it out, or sign on a laptop.")
        }
        self.init(digest: digest.lowercased(), name: name, vector: vector ?? nil)
    }

    /// The members `digest` and `name`, and `vector` where it is known.
    package var payload: FlatJSON {
        var payload: FlatJSON = ["digest": digest, "name": signer]
        if let vector { payload["vector"] = vector.text }
        return payload
    }
    /// Before a change of state, behind the opening of a job.
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

    /// The signature without the server's digest; nothing unless the job awaits one that it does not have.
    package func overlay(on job: JobStanding) -> [PublishedValue] {
        guard job.state == .awaitingSignature, !isPublished(on: job) else { return [] }
        return [PublishedValue(name: .signature, value: payload.text)]
    }

    /// The same person has signed for the same inventory, and nobody has gone back to work since. While the job awaits a signature
    /// one that says where its inventory stands takes the place of another that says so otherwise, or not.
    private func isPublished(on job: JobStanding) -> Bool {
        guard job.state == .awaitingSignature || job.state == .completed,
            let published = job[.signature].flatMap({ FlatJSON(parsing: Array($0.utf8)) })
        else { return false }
        guard published["digest"] == digest, published["name"] == signer else { return false }
        return job.state == .completed || vector == nil || published["vector"] == vector?.text
    }

    /// `sign off as NAME`.
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
