import CRDT
import Outbox

/// Kinds as an application could add them, one for each order of lanes.
struct Newest: MutationKind {
    static let name = "newest"
    static let lane = "stack"
    static let laneOrder = LaneOrder.lastInFirstOut
    static let retryPolicy = RetryPolicy.standard
    static let needsItems = false
    static let examples = [Newest()]

    init() {}
    init(payload: FlatJSON) throws(MutationRefusal) {}

    var payload: FlatJSON { [:] }
    var priority: UInt8 { 100 }
    func effect(on job: JobStanding) -> [PublishedValue] { [] }
    func overlay(on job: JobStanding) -> [PublishedValue] { [] }
    var sentence: String { "tell the newest" }
}

struct Loose: MutationKind {
    static let name = "loose"
    static let lane = "loose"
    static let laneOrder = LaneOrder.concurrent
    static let retryPolicy = RetryPolicy.standard
    static let needsItems = false
    static let examples = [Loose()]

    init() {}
    init(payload: FlatJSON) throws(MutationRefusal) {}

    var payload: FlatJSON { [:] }
    var priority: UInt8 { 100 }
    func effect(on job: JobStanding) -> [PublishedValue] { [] }
    func overlay(on job: JobStanding) -> [PublishedValue] { [] }
    var sentence: String { "tell it whenever" }
}

/// In order, and accepted in any state of the job.
struct Note: MutationKind {
    static let name = "note"
    static let lane = "notes"
    static let laneOrder = LaneOrder.firstInFirstOut
    static let retryPolicy = RetryPolicy.standard
    static let needsItems = false
    static let examples = [Note()]

    var text: String
    var priority: UInt8

    init(_ text: String = "", priority: UInt8 = 100) {
        self.text = text
        self.priority = priority
    }

    init(payload: FlatJSON) throws(MutationRefusal) {
        self.init(payload["text"] ?? "")
    }

    var payload: FlatJSON { ["text": text] }

    func effect(on job: JobStanding) throws(MutationRefusal) -> [PublishedValue] {
        if text == "nonsense" { throw MutationRefusal("This is nonsense; write something else.") }
        return [PublishedValue(name: "note", value: text)]
    }

    func overlay(on job: JobStanding) -> [PublishedValue] { [PublishedValue(name: "note", value: text)] }
    var sentence: String { "note '\(text)'" }
}

extension MutationKinds {
    static let tested = MutationKinds(all.types + [Newest.self, Loose.self, Note.self])
}
