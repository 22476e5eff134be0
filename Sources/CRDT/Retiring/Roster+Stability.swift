/// When tombstones may be forgotten (rule R10): causal stability, after Baquero, Almeida and Shoker, "Pure
/// Operation-Based Replicated Data Types" (2017), with the roster in the place of a fixed set of replicas.
///
/// Let T be what all of the roster hold, by the last word of each. Let G name, for each replica, its last hold that is
/// within T: everybody knows that it said so. Let S be the least of what those holds say. Then
///
/// * everybody on the roster held the tombstones within S when it wrote its hold in G, and no replica writes on an item
///   whose tombstone it holds: all that touches those items is within G, and everybody holds it;
/// * a replica that was taken off counts up to what the expulsion knows, which everybody has to hold, too;
/// * a replica that nobody knew of is no member: what it wrote is late, unless it held G or the fold itself first, and
///   then it knew that those items are gone.
///
/// So a fold can name each transform that it forgets, and no other will ever come. Two folds at a time name the same
/// transforms of the items that they share. A fold that names what a store does not hold yet waits there; meanwhile that
/// store's holds claim neither the fold nor stubs that no fold explains. A device that crashed before its hold left has
/// not said anything: the others wait for it. One that is restored from an older copy is a new replica; the old one
/// stays on the roster until a person expels it, because nothing tells it from a clone that lives on.
extension Roster {
    package struct Stability: Hashable, Sendable {
        /// S: tombstones up to here may be forgotten.
        package let stable: [Position]
        /// G.
        package let bounds: [Position]
        package let members: [ReplicaID]
    }

    /// What a replica should do next, for folding to come about.
    package enum Duty: Hashable, Sendable {
        case nothing
        case hold
        /// For the first of the roster; for another only what was folded on another branch than it has.
        case fold(Stability)
    }

    /// What all of the roster have said to hold, in two steps; nil while somebody has not.
    package func stability(at heads: [Position]) -> Stability? {
        let members = members(among: heads)
        let known = Set(heads.map(\.replica))
        guard !members.isEmpty, removal == nil else { return nil }
        for member in members {
            // Somebody heard of a replica that is unknown here: it may be writing on what would be folded.
            guard let last = lastHold(of: member) else { return nil }
            guard last.positions.allSatisfy({ known.contains($0.replica) }) else { return nil }
        }
        let names = heads.map(\.replica)
        let common = names.map { name in
            Position(replica: name, sequence: least(of: name, members) { lastHold(of: $0) })
        }
        var settled: [ReplicaID: Hold] = [:]
        for member in members {
            guard let hold = holds[member]?.last(where: { $0.sequence <= common[of: member] }) else { return nil }
            settled[member] = hold
        }
        var bounds: [Position] = []
        for name in names {
            if let hold = settled[name] {
                bounds.append(Position(replica: name, sequence: hold.sequence))
            } else if name == .channel {
                bounds.append(Position(replica: name, sequence: common[of: name]))
            } else {
                let counted = countedOfExpelled(name)
                guard common[of: name] >= counted else { return nil }
                bounds.append(Position(replica: name, sequence: counted))
            }
        }
        let stable = names.map { name in
            let least = least(of: name, members) { settled[$0] }
            return Position(replica: name, sequence: min(least, bounds[of: name]))
        }
        return Stability(stable: stable, bounds: bounds, members: members)
    }

    /// - Parameters:
    ///   - claims: what the store of `own` can say to hold.
    ///   - tombstone: the last record of a journal, up to a sequence, that is not forgotten yet and is a tombstone or
    ///     was written on an item that is removed.
    ///
    /// Each such record costs each replica at most two holds, and without one nothing is written.
    package func duty(
        of own: ReplicaID, claims: [Position], heads: [Position],
        tombstone: (ReplicaID, UInt64) throws -> UInt64?
    ) rethrows -> Duty {
        guard removal == nil else { return .nothing }
        let last = lastHold(of: own)
        for claim in claims {
            let latest = try tombstone(claim.replica, claim.sequence) ?? 0
            if latest > reach(last, of: claim.replica, owner: own) { return .hold }
        }
        let members = members(among: heads)
        for head in heads {
            let common = least(of: head.replica, members) { lastHold(of: $0) }
            guard let latest = try tombstone(head.replica, common) else { continue }
            // Everybody said to hold it; who has not said to hold that they said so?
            for other in heads.map(\.replica) where other != own && other != .channel {
                let awaited =
                    members.contains(other)
                    ? holds[other]?.first { reach($0, of: head.replica, owner: other) >= latest }?.sequence ?? 0
                    : countedOfExpelled(other)
                if reach(last, of: other, owner: own) < awaited, claims[of: other] >= awaited { return .hold }
            }
        }
        guard let stability = stability(at: heads), stability.members.contains(own) else { return .nothing }
        for position in stability.stable where try tombstone(position.replica, position.sequence) != nil {
            return .fold(stability)
        }
        return .nothing
    }

    /// What counts of a replica that was taken off.
    private func countedOfExpelled(_ replica: ReplicaID) -> UInt64 {
        expulsions.filter { $0.replica == replica && firstHold(of: replica, showing: $0) == nil }.map(\.known).min()
            ?? 0
    }

    private func least(of replica: ReplicaID, _ members: [ReplicaID], _ hold: (ReplicaID) -> Hold?) -> UInt64 {
        members.map { reach(hold($0), of: replica, owner: $0) }.min() ?? 0
    }
}
