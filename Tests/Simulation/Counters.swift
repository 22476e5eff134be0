/// What can go wrong in a run. Each that a plan enables has to fire somewhere in a set of runs: a fault that never
/// happened proves nothing.
package enum Fault: String, Hashable, Sendable, CaseIterable {
    case partition, oneWayPartition, heal, brokenConnection, lostMessage, messageLostAtBreak, duplicate, sparseNetwork
    case crash, writeLostToCrash, reboot, fullDisk, refusedWrite, restore, clone, lateJoin, sleep, month
    case delay, reordering, wrongClock, drift, wallJump, serverTime, lie, malformedDelta
    case expulsion, lateDecision, jobRemoval
    /// Laptops bring the office what there is and ask it for things; what can go wrong there.
    case gateway, officeCrash, officeSetBack, officeIllness, dropped
    // What has to come of them.
    case renewal, branchGivenUp, learnedTime, restamped, held, heldApplied, folded, lateWork, rescuedWork
    case uploaded, asked, decidedRequest, rejectedRequest, askedAgain, predecessorMissing, journalBrought
    case byAnotherGateway, requestLost, answerLost, echo, serverBusy
    case branchGivenUpAtOffice, gaveWayToOffice, wordsTakenBack

    /// Whether a plan chooses it; the others are what comes of those.
    var isDrawn: Bool {
        switch self {
        case .heal, .messageLostAtBreak, .writeLostToCrash, .refusedWrite, .delay, .reordering, .renewal,
            .branchGivenUp, .learnedTime, .restamped, .held, .heldApplied, .folded, .lateWork, .rescuedWork:
            false
        case .uploaded, .asked, .decidedRequest, .rejectedRequest, .askedAgain, .predecessorMissing, .journalBrought,
            .byAnotherGateway, .requestLost, .answerLost, .echo, .serverBusy, .branchGivenUpAtOffice,
            .gaveWayToOffice, .wordsTakenBack:
            false
        default: true
        }
    }

    /// Whether it can only come about with gateways, and where.
    var needsGateways: Bool {
        switch self {
        case .gateway, .officeCrash, .officeSetBack, .officeIllness, .dropped, .uploaded, .asked, .decidedRequest,
            .rejectedRequest, .askedAgain, .predecessorMissing, .journalBrought, .byAnotherGateway, .requestLost,
            .answerLost, .echo, .serverBusy, .branchGivenUpAtOffice, .gaveWayToOffice, .wordsTakenBack:
            true
        default: false
        }
    }

    /// In so many runs that enable it, or in which it can come of others, a fault has to have happened.
    var certainAfter: Int { isDrawn ? 20 : 200 }
}

/// How often each thing happened in a run, or in several.
package struct Counters: Hashable, Sendable {
    package private(set) var faults: [Fault: Int] = [:]
    /// In how many runs each fault could happen.
    package private(set) var enabled: [Fault: Int] = [:]
    package var edits = 0
    package var messages = 0
    package var stored = 0
    package var connections = 0
    package var checks = 0

    package init() {}

    init(of profile: Plan.Profile) {
        for fault in Fault.allCases where !fault.isDrawn || profile.faults.contains(fault) {
            if !fault.needsGateways || profile.faults.contains(.gateway) { enabled[fault] = 1 }
        }
    }

    package subscript(fault: Fault) -> Int { faults[fault, default: 0] }

    mutating func count(_ fault: Fault) {
        faults[fault, default: 0] += 1
    }

    package static func += (left: inout Counters, right: Counters) {
        left.faults.merge(right.faults, uniquingKeysWith: +)
        left.enabled.merge(right.enabled, uniquingKeysWith: +)
        left.edits += right.edits
        left.messages += right.messages
        left.stored += right.stored
        left.connections += right.connections
        left.checks += right.checks
    }

    /// The faults that were enabled in enough runs and never happened: these runs prove nothing of them.
    package var silent: [Fault] {
        Fault.allCases.filter { self[$0] == 0 && enabled[$0, default: 0] >= $0.certainAfter }
    }

    /// One line for people.
    package var summary: String {
        let faults = Fault.allCases.map { "\($0.rawValue) \(self[$0])" }.joined(separator: ", ")
        return "edits \(edits), messages \(messages), stored \(stored), connections \(connections), checks \(checks); "
            + faults
    }
}
