/// What can go wrong in a run. Each that a plan enables has to fire somewhere in a set of runs: a fault that never
/// happened proves nothing.
package enum Fault: String, Hashable, Sendable, CaseIterable {
    case partition, oneWayPartition, heal, brokenConnection, lostMessage, messageLostAtBreak, duplicate, sparseNetwork
    case crash, writeLostToCrash, reboot, fullDisk, refusedWrite, restore, clone, lateJoin, sleep, month
    case delay, reordering, wrongClock, drift, wallJump, serverTime, lie, malformedDelta, congestion
    case jobRemoval, lateDecision
    /// Kinds of work: several jobs, many items, many replicas, several edits in one commit.
    case severalJobs, bulkEdit, crowd, groupCommit
    /// Laptops bring the office what there is and ask it for things; what can go wrong there.
    case gateway, officeCrash, officeSetBack, officeIllness, dropped, signOff
    // What has to come of them.
    case renewal, branchGivenUp, learnedTime, restamped, restampedSeveralJobs, fromTheFuture
    case lateWork, rescuedWork, freed, freeingInterrupted, removedTwice, removedUnread, longRun
    case reissuedWithRemoval
    /// What docs/deletes.md says cannot be known: a branch that was freed as the beginning of another one.
    case takenForBeginning
    case uploaded, asked, decidedRequest, rejectedRequest, askedAgain, predecessorMissing, journalBrought
    case byAnotherGateway, requestLost, answerLost, echo, serverBusy, signed, signedForOtherItems
    /// Several requests in one exchange, and only the first of them decided.
    case askedTogether, decidedInPart
    case branchGivenUpAtOffice, gaveWayToOffice, wordsTakenBack, foundBehind

    /// Whether a plan chooses it; the others are what comes of those.
    var isDrawn: Bool {
        switch self {
        case .heal, .messageLostAtBreak, .writeLostToCrash, .refusedWrite, .delay, .reordering: false
        case .renewal, .branchGivenUp, .learnedTime, .restamped, .restampedSeveralJobs, .fromTheFuture: false
        case .lateWork, .rescuedWork, .freed, .freeingInterrupted, .removedTwice, .removedUnread, .longRun: false
        case .reissuedWithRemoval, .takenForBeginning: false
        default: !comesOfGateways
        }
    }

    private var comesOfGateways: Bool {
        switch self {
        case .uploaded, .asked, .decidedRequest, .rejectedRequest, .askedAgain, .predecessorMissing, .journalBrought,
            .byAnotherGateway, .requestLost, .answerLost, .echo, .serverBusy, .signed, .signedForOtherItems,
            .askedTogether, .decidedInPart,
            .branchGivenUpAtOffice, .gaveWayToOffice, .wordsTakenBack, .foundBehind:
            true
        default: false
        }
    }

    /// Whether it can only come about with gateways.
    var needsGateways: Bool {
        switch self {
        case .gateway, .officeCrash, .officeSetBack, .officeIllness, .dropped, .signOff: true
        default: comesOfGateways
        }
    }

    /// How rare a plan draws it: in one of so many.
    var oneIn: Int {
        switch self {
        // Not much can happen to a job after it is gone.
        case .jobRemoval: 6
        case .severalJobs: 3
        case .bulkEdit: 24
        case .crowd: 60
        default: 2
        }
    }

    /// In so many runs that enable it, or in which it can come of others, a fault has to have happened.
    var certainAfter: Int {
        switch self {
        case .bulkEdit, .crowd: 8
        case .reissuedWithRemoval: 2_000
        case .takenForBeginning: 200_000
        default: isDrawn ? 20 : 250
        }
    }
}

/// How often each thing happened in a run, or in several.
package struct Counters: Hashable, Sendable {
    package private(set) var faults: [Fault: Int] = [:]
    /// In how many runs each fault could happen.
    package private(set) var enabled: [Fault: Int] = [:]
    /// How often each thing was looked at.
    package private(set) var checks: [Check: Int] = [:]
    package var edits = 0
    package var messages = 0
    package var stored = 0
    package var connections = 0

    package init() {}

    init(of profile: Plan.Profile) {
        for fault in Fault.allCases where !fault.isDrawn || profile.faults.contains(fault) {
            if !fault.needsGateways || profile.faults.contains(.gateway) { enabled[fault] = 1 }
        }
    }

    package subscript(fault: Fault) -> Int { faults[fault, default: 0] }
    package subscript(check: Check) -> Int { checks[check, default: 0] }

    mutating func count(_ fault: Fault, _ times: Int = 1) {
        if times > 0 { faults[fault, default: 0] += times }
    }

    mutating func count(_ check: Check, _ times: Int = 1) {
        checks[check, default: 0] += times
    }

    package static func += (left: inout Counters, right: Counters) {
        left.faults.merge(right.faults, uniquingKeysWith: +)
        left.enabled.merge(right.enabled, uniquingKeysWith: +)
        left.checks.merge(right.checks, uniquingKeysWith: +)
        left.edits += right.edits
        left.messages += right.messages
        left.stored += right.stored
        left.connections += right.connections
    }

    /// The faults that were enabled in enough runs and never happened: these runs prove nothing of them.
    package var silent: [Fault] {
        Fault.allCases.filter { self[$0] == 0 && enabled[$0, default: 0] >= $0.certainAfter }
    }

    /// What was never looked at in so many runs.
    package var unchecked: [Check] {
        Check.allCases.filter { self[$0] == 0 && enabled[.heal, default: 0] >= 200 }
    }

    /// A few lines for people.
    package var summary: String {
        let faults = Fault.allCases.map { "\($0.rawValue) \(self[$0])" }.joined(separator: ", ")
        let checks = Check.allCases.map { "\($0.rawValue) \(self[$0])" }.joined(separator: ", ")
        return "edits \(edits), messages \(messages), stored \(stored), connections \(connections)\n"
            + "checked: \(checks)\nhappened: \(faults)"
    }
}
