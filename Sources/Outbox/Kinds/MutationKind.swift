package import CRDT

/// A kind of mutation. The compiler asks every question that there is about one; the answers stand in `MutationKinds`.
package protocol MutationKind: Sendable, Hashable {
    /// 1 to 64 of `A–Z a–z 0–9 . _ -`; part of the format, so it never changes.
    static var name: String { get }
    /// The lane of its job: kinds of one lane keep their order among each other. Spelt as a name.
    static var lane: String { get }
    /// The same for all kinds of a lane.
    static var laneOrder: LaneOrder { get }
    /// How long an attempt may take, and the waits after its failures.
    static var retryPolicy: RetryPolicy { get }
    /// Whether the server looks at the job's items to carry it out: whoever delivers it brings them first.
    static var needsItems: Bool { get }
    /// One of every shape, for tests and the documentation of the API.
    static var examples: [Self] { get }

    /// 0 goes last, 255 first, among the heads of lanes.
    var priority: UInt8 { get }
    /// What `init(payload:)` reads back as an equal mutation; at most 64 KiB.
    var payload: FlatJSON { get }
    /// - Throws: a refusal that says what is missing.
    init(payload: FlatJSON) throws(MutationRefusal)

    /// What the server publishes when it carries this out on a job as it stands; nothing when what is asked for is so
    /// already, which counts as done: two laptops may ask for one thing without knowing of each other.
    ///
    /// - Throws: why it never will.
    func effect(on job: JobStanding) throws(MutationRefusal) -> [PublishedValue]
    /// What is shown over published state until the server has answered.
    func overlay(on job: JobStanding) -> [PublishedValue]
    /// What a person reads: the wish in the imperative, without a full stop.
    var sentence: String { get }
}

/// In which order the requests of a lane go.
package enum LaneOrder: Hashable, Sendable {
    /// One after the other, the oldest first; the server keeps the order, too.
    case firstInFirstOut
    /// One after the other, the newest first.
    case lastInFirstOut
    /// All at once.
    case concurrent
}

/// Why a mutation is refused for good: one sentence, what is wrong and what to do.
package struct MutationRefusal: Error, Hashable, Sendable {
    /// What is wrong and what to do, for people; the server's answer carries it as the reason.
    package let sentence: String

    /// Takes one sentence with its full stop.
    package init(_ sentence: String) {
        self.sentence = sentence
    }
}

extension MutationKind {
    /// The request for a journal.
    ///
    /// - Parameter last: the one in this lane of the job that it has to follow, whoever asked for that; nil for none.
    ///   Only first-in-first-out lanes name it.
    package func request(token: MutationToken, after last: MutationToken?) -> MutationRequest {
        MutationRequest(
            token: token, lane: Self.lane, after: Self.laneOrder == .firstInFirstOut ? last : nil, priority: priority,
            kind: Self.name, payload: payload.bytes)
    }
}
