/// How often each thing happened in a run: a fault that never fired proves nothing.
package struct Counters: Hashable, Sendable {
    package var edits = 0
    package var messages = 0
    package var transformsSent = 0
    package var stored = 0
    package var connections = 0
    package var cuts = 0
    package var heals = 0
    package var crashes = 0
    package var setBacks = 0
    package var renewals = 0
    package var branchesGivenUp = 0
    package var lostMessages = 0
    package var lostToCrashes = 0

    package init() {}

    package static func += (left: inout Counters, right: Counters) {
        for path in Self.all { left[keyPath: path] += right[keyPath: path] }
    }

    /// Counters of faults: each must be above zero over a set of runs.
    package var faults: [(name: String, count: Int)] {
        [
            ("cuts", cuts), ("heals", heals), ("crashes", crashes), ("setBacks", setBacks), ("renewals", renewals),
            ("branchesGivenUp", branchesGivenUp), ("lostMessages", lostMessages), ("lostToCrashes", lostToCrashes),
        ]
    }

    private static var all: [WritableKeyPath<Counters, Int>] {
        [
            \.edits, \.messages, \.transformsSent, \.stored, \.connections, \.cuts, \.heals, \.crashes, \.setBacks,
            \.renewals, \.branchesGivenUp, \.lostMessages, \.lostToCrashes,
        ]
    }
}
