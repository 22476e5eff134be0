import CRDT
import Storage

/// What has to be true in the end, read from the journals without the merge.
extension EngineCrew {
    func check() throws {
        counters[.messages] = network.messages
        counters[.breaks] = network.breaks
        counters[.halfEnds] = network.halfEnds
        counters[.hangs] = network.hangs
        counters[.congestions] = network.congestions
        counters[.lost] = server.lost
        counters[.together] = server.together
        counters[.decidedInPart] = server.inPart
        counters[.wordsTakenBack] = server.wordsTakenBack
        counters[.requests] = server.decided.count
        let (jobs, store) = (jobs, server.store)
        let decided = try scheduler.finish {
            var decided: Set<MutationToken> = []
            for job in jobs { decided.formUnion(try await store.decidedTokens(of: job)) }
            return decided
        }
        for laptop in laptops {
            // Each name that is given up stays behind in every job for ever.
            if faults.isDisjoint(with: [.setBack, .copy]), laptop.names != [laptop.engine.store.identity.replica] {
                throw Violation("R9", "laptop \(laptop.index) took another name, though its disk is its own.")
            }
            for own in laptop.asked where !own.isExcused && !dropped.contains(own.token) && !decided.contains(own.token)
            {
                // With a removed job its requests end, too.
                guard try removal(of: own.job) != nil else {
                    throw Violation("R4", "a request of laptop \(laptop.index) was acknowledged and never decided.")
                }
            }
        }
        for job in jobs {
            if let removal = try removal(of: job) { try checkRemoved(job, removal) } else { try check(job) }
        }
        for (job, decision) in decisions { try check(decision, in: job) }
    }

    private func removal(of job: JobID) throws -> JobRemoval? {
        let server = server
        return try scheduler.finish { try await server.store.removal(of: job) }
    }

    /// What the remover had seen is gone everywhere; all else is listed everywhere, unless a person has dealt with it (rule R10).
    private func checkRemoved(_ job: JobID, _ removal: JobRemoval) throws {
        let laptops = laptops
        let late = try scheduler.finish {
            var late: [[QuarantinedChange]] = []
            for laptop in laptops { late.append(try await laptop.engine.store.lateChanges(of: job)) }
            return late
        }
        for (index, other) in late.enumerated() where other != late[0] {
            throw Violation("R10", "laptop 0 and \(index) list different late work of \(job).")
        }
        let listed = Set(late[0].flatMap(\.change.texts))
        for (text, written) in (acknowledged[job] ?? [:]).sorted(by: { $0.key < $1.key }) {
            // Under a name that two disks bore something else may stand there, and this under another one.
            guard !doubtful.contains(written.dot.replica) else { continue }
            counters[.lookedFor] += 1
            let isGone = removal.heads[written.dot.replica].sequence >= written.dot.sequence
            if isGone, listed.contains(text) {
                throw Violation("R10", "'\(text)' had been seen by who removed \(job) and is listed as late.")
            }
            guard isGone || listed.contains(text) || settled[job]?.contains(text) ?? false else {
                throw Violation("R10", "'\(text)' came after the end of \(job) and is listed nowhere.")
            }
            if listed.contains(text) { counters[.late] += 1 }
        }
    }

    /// What a person has dealt with is listed no more.
    private func check(_ decision: LateDecision, in job: JobID) throws {
        let store = laptops[0].engine.store
        let late = try scheduler.finish { try await store.lateChanges(of: job) }
        for text in late.flatMap(\.change.texts) where decision.texts.contains(text) {
            throw Violation("R10", "'\(text)' was dealt with and is listed again.")
        }
    }

    private func check(_ job: JobID) throws {
        let (laptops, server) = (laptops, server)
        let held = try scheduler.finish {
            var held: [(changes: [EngineChange], export: [UInt8])] = []
            for store in laptops.map(\.engine.store) + [server.store] {
                held.append((try await EngineChange.all(of: job, in: store), try await store.exportedIfKnown(job)))
            }
            return held
        }
        guard let first = held.first else { return }
        for (index, other) in held.enumerated() {
            guard other.export == first.export else {
                throw Violation("R3", "laptop 0 and \(index) export different bytes of \(job).")
            }
            let texts = Set(other.changes.map(\.text))
            if let text = texts.intersection(refused).min() {
                throw Violation("R4", "'\(text)' was refused and stands at \(index).")
            }
            for text in (acknowledged[job] ?? [:]).keys.sorted() {
                counters[.lookedFor] += 1
                guard texts.contains(text) else { throw Violation("R4", "'\(text)' is nowhere at \(index).") }
            }
        }
        try checkTimes(first.changes, acknowledged[job] ?? [:])
        try checkStampedAnew(first.changes, acknowledged[job] ?? [:])
    }

    /// Who knows the time stamps by it, and nobody's step of the clock takes that back (rule R5): so what one laptop
    /// wrote keeps its order.
    private func checkTimes(_ changes: [EngineChange], _ written: [String: Written]) throws {
        var last: EngineChange?
        for change in changes {
            guard let written = written[change.text], written.isSynchronised, !change.isReissued else { continue }
            // An exchange in whose midst a lid was closed says little; half the delays of all others together are less.
            guard change.stamp.milliseconds + written.doubt + 3_000 >= written.begun else {
                throw Violation(
                    "R5",
                    "'\(change.text)' is stamped \(written.begun - change.stamp.milliseconds) ms before it was written."
                )
            }
            let (latest, isBeyond) = written.ended.addingReportingOverflow(UInt64(Checker.toleranceMilliseconds))
            guard isBeyond || change.stamp.milliseconds <= latest || isPushed(change, among: changes) else {
                throw Violation("R6", "'\(change.text)' is stamped in the future, and followed nothing from there.")
            }
            // What came from the future, or was written on top of that, holds nobody back.
            let limit = written.begun + UInt64(Checker.toleranceMilliseconds)
            if let last, last.author == change.author, last.stamp.milliseconds < limit, change.stamp < last.stamp {
                throw Violation("R5", "'\(change.text)' was written after '\(last.text)' and stamped before it.")
            }
            last = change
        }
    }
}

extension EngineCrew {
    /// Its stamp is just behind that of another write on its item.
    private func isPushed(_ change: EngineChange, among changes: [EngineChange]) -> Bool {
        changes.contains {
            $0.item == change.item && ($0.author, $0.stamp) != (change.author, change.stamp)
                && $0.stamp <= change.stamp && $0.stamp.milliseconds + 2 > change.stamp.milliseconds
        }
    }

    /// What was written without the time and shown to nobody before the time was known is placed by the true time (rule R5),
    /// unless the machine was booted in between, or it stands on top of what came from the future.
    private func checkStampedAnew(_ changes: [EngineChange], _ written: [String: Written]) throws {
        for change in changes {
            guard let written = written[change.text], let unseen = written.unseen, !change.isReissued else { continue }
            let machine = laptops[written.laptop].machine
            guard machine.shownCount == unseen.shownCount, machine.bootID == unseen.boot else { continue }
            // Whose name was another's, too, does not know what that one has shown.
            guard change.author == laptops[written.laptop].engine.store.identity.replica else { continue }
            guard !isPushed(change, among: changes) else { continue }
            counters[.stampedAnew] += 1
            let error = Int64(change.stamp.milliseconds) - Int64(written.begun)
            guard abs(error) < Int64(Checker.toleranceMilliseconds) else {
                throw Violation(
                    "R5", "'\(change.text)' was written without the time, seen by nobody, and stands \(error) ms off.")
            }
        }
    }
}

/// A write as it stands in a journal, read without the merge.
struct EngineChange: Sendable {
    let author: ReplicaID
    /// Somebody else wrote it first.
    let isReissued: Bool
    let stamp: Stamp
    let item: ItemID
    /// Nil for a remark.
    let field: FieldName?
    let text: String

    /// Author by author, in the order of their journals.
    static func all(of job: JobID, in store: Store) async throws -> [EngineChange] {
        var found: [EngineChange] = []
        guard let vector = try? await store.vector(of: job) else { return [] }
        for entry in vector.entries {
            var next: UInt64 = 1
            while let run = try await store.segment(
                of: entry.replica, job: job, from: next, maximumBytes: 1 << 20)
            {
                next = run.head.sequence + 1
                for change in try ChangeCodec.decodeAll(run.bytes) {
                    for operation in change.operations {
                        let (field, text): (FieldName?, String)
                        switch operation {
                        case .set(let name, let value, _): (field, text) = (name, value)
                        case .append(_, let entry): (field, text) = (nil, entry)
                        default: continue
                        }
                        found.append(
                            EngineChange(
                                author: entry.replica, isReissued: change.origin != nil, stamp: change.stamp,
                                item: change.item, field: field, text: text))
                    }
                }
            }
        }
        return found
    }

    /// All that somebody wrote.
    static func texts(of job: JobID, in store: Store) async throws -> Set<String> {
        Set(try await all(of: job, in: store).map(\.text))
    }
}

extension Change {
    /// What people wrote with it that nobody else writes.
    var texts: [String] {
        operations.compactMap { operation in
            switch operation {
            case .set(_, let value, _) where value.contains(" by "): value
            case .append(_, let entry): entry
            default: nil
            }
        }
    }
}

extension Store {
    /// The canonical export; nothing for a job that is not here.
    fileprivate func exportedIfKnown(_ job: JobID) async throws -> [UInt8] {
        do { return try await exported(job) } catch let error as StoreError where error.code == .unknownJob {
            return []
        }
    }
}
