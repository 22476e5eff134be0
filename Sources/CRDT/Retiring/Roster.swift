/// Who takes part in a job and what they said about it: fed with the statements of all journals, in any order.
///
/// It answers whose changes are late (`Roster+Late`) and what may be forgotten (`Roster+Stability`). Both depend on
/// the statements alone, so that equal version vectors give equal answers.
///
/// Statements count wherever they stand, in late work too: a rule by which a cut could make another cut void would
/// need an order between them that nobody can know.
package struct Roster: Sendable {
    package struct Hold: Hashable, Sendable {
        /// Of the transform that says it.
        package let sequence: UInt64
        package let positions: [Position]
    }

    struct Expulsion: Hashable, Sendable {
        let dot: Dot
        let replica: ReplicaID
        let known: UInt64
    }

    struct FoldCut: Hashable, Sendable {
        let dot: Dot
        let bounds: [Position]
        let members: Set<ReplicaID>
    }

    /// Per replica, ascending by sequence.
    private(set) var holds: [ReplicaID: [Hold]] = [:]
    private(set) var expulsions: [Expulsion] = []
    private(set) var folds: [FoldCut] = []
    /// What the removers of the job held of it; nil while it is not removed.
    package private(set) var removal: [Position]?
    private var decisions: [ReplicaID: UInt64] = [:]

    package init() {}

    /// Takes a statement in; anything else changes nothing, and so does a repetition.
    ///
    /// - Parameter dot: of the transform itself.
    package mutating func add(_ operation: Operation, at dot: Dot) {
        switch operation {
        case .hold(let positions):
            Self.insert(Hold(sequence: dot.sequence, positions: positions), into: &holds[dot.replica, default: []])
        case .expel(let replica, let known):
            let expulsion = Expulsion(dot: dot, replica: replica, known: known)
            if !expulsions.contains(expulsion) { expulsions.append(expulsion) }
        case .fold(let fold):
            guard !folds.contains(where: { $0.dot == dot }) else { return }
            folds.append(FoldCut(dot: dot, bounds: fold.bounds, members: Set(fold.members)))
        case .removeJob(let positions):
            removal = (removal ?? []).farthest(of: positions)
        case .decide(let replica, let upTo):
            decisions[replica] = max(decisions[replica] ?? 0, upTo)
        case .set, .append, .remove, .request, .withdraw, .outcome, .publish: break
        }
    }

    /// In place, and nearly always at the end: a hostile journal may have thousands.
    private static func insert(_ hold: Hold, into known: inout [Hold]) {
        if known.last.map({ $0.sequence < hold.sequence }) ?? true { return known.append(hold) }
        let index = known.firstIndex { $0.sequence >= hold.sequence } ?? known.count
        if known[index].sequence != hold.sequence { known.insert(hold, at: index) }
    }

    /// Whether anything makes anybody's work late.
    package var hasCuts: Bool { !expulsions.isEmpty || !folds.isEmpty || removal != nil }

    /// Up to where a person has dealt with a replica's late work.
    package func decided(of replica: ReplicaID) -> UInt64 { decisions[replica] ?? 0 }

    /// How many positions it keeps in memory, some more for what else it keeps.
    package var positionCount: Int {
        let held = holds.values.reduce(0) { sum, holds in holds.reduce(sum) { $0 + $1.positions.count + 2 } }
        let cut = folds.reduce(0) { $0 + $1.bounds.count + $1.members.count + 2 }
        return held + cut + 2 * expulsions.count + (removal?.count ?? 0) + decisions.count
    }

    package func lastHold(of replica: ReplicaID) -> Hold? { holds[replica]?.last }

    /// How far a hold of `owner` reaches in a journal; in its own up to the hold itself.
    func reach(_ hold: Hold?, of replica: ReplicaID, owner: ReplicaID) -> UInt64 {
        guard let hold else { return 0 }
        return replica == owner ? hold.sequence : hold.positions[of: replica]
    }

    /// Whether a replica was taken off the roster and has not said since that it knows.
    package func isExpelled(_ replica: ReplicaID) -> Bool {
        expulsions.contains { $0.replica == replica && firstHold(of: replica, showing: $0) == nil }
    }

    /// The replicas that have to hold a tombstone before it is forgotten, ascending.
    package func members(among heads: [Position]) -> [ReplicaID] {
        heads.map(\.replica).filter { $0 != .channel && !isExpelled($0) }
    }

    func firstHold(of replica: ReplicaID, showing expulsion: Expulsion) -> UInt64? {
        holds[replica]?.first {
            reach($0, of: expulsion.dot.replica, owner: replica) >= expulsion.dot.sequence
        }?.sequence
    }
}

extension [Position] {
    /// Of two lists that ascend by replica, the greater sequence of each.
    package func farthest(of other: [Position]) -> [Position] {
        var greatest: [ReplicaID: UInt64] = [:]
        for position in self + other {
            greatest[position.replica] = Swift.max(greatest[position.replica] ?? 0, position.sequence)
        }
        return greatest.map { Position(replica: $0.key, sequence: $0.value) }.sorted()
    }
}
