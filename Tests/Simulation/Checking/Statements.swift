import CRDT

/// What was said about the job as a whole, and what follows from it: ARCHITECTURE.md, "Deletes", word by word. It goes
/// through all that was said for each question, and shares nothing with the roster of the production code.
struct Statements {
    private struct Said {
        let dot: Dot
        let operation: CRDT.Operation
    }

    private var all: [Said] = []
    private(set) var hasCuts = false
    private(set) var isJobRemoved = false

    mutating func add(_ operation: CRDT.Operation, at dot: Dot) {
        all.append(Said(dot: dot, operation: operation))
        switch operation {
        case .removeJob:
            isJobRemoved = true
            hasCuts = true
        case .expel, .fold: hasCuts = true
        default: break
        }
    }

    // MARK: Late work

    /// Whether a change that ends here is late: a cut does not know all of it, and its author has not said before it that
    /// it knew what the cut is about.
    func isLate(_ change: Dot) -> Bool {
        guard hasCuts else { return false }
        return all.contains { cut in
            switch cut.operation {
            case .removeJob: change.sequence > known(of: change.replica)
            case .expel(let replica, let known):
                replica == change.replica && change.sequence > known
                    && (replica != .channel || cut.dot.replica == .channel)
                    && !hasHold(of: change.replica, before: change.sequence) { $0.reaches(cut.dot) }
            case .fold(let fold):
                change.replica != .channel && !fold.members.contains(change.replica)
                    && change.sequence > fold.bounds.sequence(of: change.replica)
                    && !hasHold(of: change.replica, before: change.sequence) { hold in
                        hold.reaches(cut.dot)
                            || fold.bounds.allSatisfy { hold.reaches(Dot(replica: $0.replica, sequence: $0.sequence)) }
                    }
            default: false
            }
        }
    }

    /// What the removers of the job held of a journal, together; it is forgotten.
    func known(of replica: ReplicaID) -> UInt64 {
        all.map { said in
            if case .removeJob(let positions) = said.operation { positions.sequence(of: replica) } else { 0 }
        }.max() ?? 0
    }

    /// Up to where a person has dealt with a replica's late work.
    func decided(of replica: ReplicaID) -> UInt64 {
        all.map { said in
            if case .decide(replica, let upTo) = said.operation { upTo } else { 0 }
        }.max() ?? 0
    }

    /// Whether a person took the replica off, and it has not said since that it knows.
    func isExpelled(_ replica: ReplicaID) -> Bool {
        all.contains { said in
            guard case .expel(replica, _) = said.operation else { return false }
            return !hasHold(of: replica, before: .max) { $0.reaches(said.dot) }
        }
    }

    /// Whether all that is claimed of the journals can be there: what a copy claimed that is gone nobody will ever hold.
    func speaksOnlyOf(_ heads: [ReplicaID: JournalHead]) -> Bool {
        all.allSatisfy { said in
            switch said.operation {
            case .hold(let positions): positions.allSatisfy { heads[$0.replica]?.sequence ?? 0 >= $0.sequence }
            case .expel(let replica, let known): heads[replica]?.sequence ?? 0 >= known
            default: true
            }
        }
    }

    // MARK: Holds

    private struct Hold {
        let dot: Dot
        let positions: [Position]

        /// Its author held this when it said so; its own journal up to there.
        func reaches(_ other: Dot) -> Bool {
            (other.replica == dot.replica ? dot.sequence : positions.sequence(of: other.replica)) >= other.sequence
        }
    }

    private func hasHold(of replica: ReplicaID, before sequence: UInt64, where isEnough: (Hold) -> Bool) -> Bool {
        all.contains { said in
            guard said.dot.replica == replica, said.dot.sequence < sequence, case .hold(let positions) = said.operation
            else { return false }
            return isEnough(Hold(dot: said.dot, positions: positions))
        }
    }
}

extension [Position] {
    /// 0 for a journal that is not named.
    func sequence(of replica: ReplicaID) -> UInt64 { first { $0.replica == replica }?.sequence ?? 0 }
}
