/// What can go wrong in a run. Each that a plan enables has to fire somewhere in a set of runs: a fault that never
/// happened proves nothing.
package enum Fault: String, Hashable, Sendable, CaseIterable {
    case partition, oneWayPartition, heal, brokenConnection, lostMessage, messageLostAtBreak, duplicate, sparseNetwork
    case crash, writeLostToCrash, reboot, fullDisk, refusedWrite, restore, clone, lateJoin, sleep, month
    case wrongClock, drift, wallJump, serverTime, lie, malformedDelta, expulsion, lateDecision
    // What has to come of them.
    case renewal, branchGivenUp, learnedTime, restamped, held, heldApplied, folded, lateWork

    /// Whether a plan chooses it; the others are what comes of those.
    var isDrawn: Bool {
        switch self {
        case .heal, .messageLostAtBreak, .writeLostToCrash, .refusedWrite, .renewal, .branchGivenUp,
            .learnedTime, .restamped, .held, .heldApplied, .folded, .lateWork:
            false
        default: true
        }
    }
}

/// How often each thing happened in a run.
package struct Counters: Hashable, Sendable {
    package private(set) var faults: [Fault: Int] = [:]
    package var edits = 0
    package var messages = 0
    package var stored = 0
    package var connections = 0
    package var checks = 0

    package init() {}

    package subscript(fault: Fault) -> Int { faults[fault, default: 0] }

    mutating func count(_ fault: Fault) {
        faults[fault, default: 0] += 1
    }

    package static func += (left: inout Counters, right: Counters) {
        left.faults.merge(right.faults, uniquingKeysWith: +)
        left.edits += right.edits
        left.messages += right.messages
        left.stored += right.stored
        left.connections += right.connections
        left.checks += right.checks
    }

    /// The faults that never happened.
    package var silent: [Fault] { Fault.allCases.filter { self[$0] == 0 } }

    /// One line for people.
    package var summary: String {
        let faults = Fault.allCases.map { "\($0.rawValue) \(self[$0])" }.joined(separator: ", ")
        return "edits \(edits), messages \(messages), stored \(stored), connections \(connections), checks \(checks); "
            + faults
    }
}
