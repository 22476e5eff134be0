import CRDT
import Replication
import Storage

/// Who is on a job hears of it, and nobody else does (docs/membership.md).
extension Checker {
    /// Who gets a message, and what is known of it.
    struct Receiver {
        let device: DeviceID
        /// As people read it.
        let name: String
        /// Of which either end has spoken on this connection.
        let spokenOf: Set<JobID>
        /// What both ends have told each other on it of who is on the job in question.
        let words: SaidWords
        /// Of which it has shown, anywhere, that it has been on them: it holds some of it.
        let holds: Set<JobID>
        /// It is the office's.
        let seesAllJobs: Bool
        /// Its word may be needed where two have said who is on a job apart.
        let mayAssign: Bool
    }

    /// Words about who is on jobs are in force in a laptop, or in the server; they have to be durable there.
    func learned(_ statements: [Assignment], by device: Holder, of fleet: [UInt8], at now: Int64) async throws {
        let kept = try await device.store.assignments(of: fleet)
        for statement in statements {
            guard assigned.contains(statement) else {
                throw Violation(
                    "membership",
                    "\(device) believes \(statement.signer.short) about \(statement.job), which may not speak.")
            }
            if !kept.contains(statement), !isReplaced(statement, by: kept) {
                throw Violation("membership", "\(device) acts by a word about \(statement.job) that is not durable.")
            }
            device.words[statement.job, default: SaidWords()].add(statement)
            device.wordsSince[statement.job] = now
        }
    }

    /// Each of its words has been overtaken.
    private func isReplaced(_ statement: Assignment, by kept: [Assignment]) -> Bool {
        var words = SaidWords()
        for one in kept where one.job == statement.job { words.add(one) }
        let before = words.last
        words.add(statement)
        return words.last == before
    }

    /// From a laptop to one that is not on a job, as far as the sender knows, nothing goes out but what docs/membership.md says.
    ///
    /// - Parameter before: only what was known before this moment counts: what was decided earlier may be on its way out.
    func told(_ message: Message, by sender: Holder, to receiver: Receiver, knownBefore before: Int64) throws {
        switch message {
        case .assignments(let statements): try toldWords(statements, by: sender, to: receiver, before)
        case .summaries(_, let lines):
            for line in lines where isOutsider(receiver, of: line.job, for: sender, before) {
                guard mayKnow(of: line.job, receiver, as: sender) else {
                    throw leak("lists \(line.job)", by: sender, to: receiver)
                }
            }
        default:
            guard let job = message.job else { return }
            guard isOutsider(receiver, of: job, for: sender, before) else {
                return try toldMember(message, of: job, by: sender, to: receiver, before)
            }
            try toldOutsider(message, of: job, by: sender, to: receiver)
            count(.outsider)
        }
    }

    private func isOutsider(_ receiver: Receiver, of job: JobID, for sender: Holder, _ before: Int64) -> Bool {
        guard let words = sender.words[job], !words.isEverybodys else { return false }
        count(.membership)
        guard let since = sender.wordsSince[job], since < before else { return false }
        return !receiver.seesAllJobs && !words.isFor(receiver.device)
    }

    /// Whom a job is for goes before anything of it over each connection.
    private func toldMember(
        _ message: Message, of job: JobID, by sender: Holder, to receiver: Receiver, _ before: Int64
    ) throws {
        switch message {
        case .vector, .have, .delta: break
        default: return
        }
        guard let words = sender.words[job], let since = sender.wordsSince[job], since < before else { return }
        guard words.last.values.allSatisfy(receiver.words.all.contains) else {
            throw Violation(
                "membership", "\(sender) speaks of \(job) to \(receiver.name) before it has said whom it is for.")
        }
        count(.wordsFirst)
    }

    private func toldOutsider(_ message: Message, of job: JobID, by sender: Holder, to receiver: Receiver) throws {
        let isSpokenOf = receiver.spokenOf.contains(job)
        switch message {
        case .vector(_, let vector, let end):
            guard end == nil, vector.entries.allSatisfy({ isOwn($0.replica, of: receiver) }),
                isSpokenOf || !vector.entries.isEmpty
            else { throw leak("tells by \(vector.brief) how far it holds \(job)", by: sender, to: receiver) }
        case .have(_, let entries):
            guard entries.allSatisfy({ isOwn($0.replica, of: receiver) }) else {
                throw leak("tells by \(VersionVector(entries).brief) what it has of \(job)", by: sender, to: receiver)
            }
        case .delta(_, let segment, _):
            guard isOwn(segment.replica, of: receiver) else {
                throw leak("passes \(segment.brief) of \(job) on", by: sender, to: receiver)
            }
        case .probe(_, let replica, _), .forked(_, let replica):
            // Whoever claims more of the sender's own journal than there is has to show it (rule R9).
            let isClaimed = isSpokenOf && writers[replica] == sender.store.identity.device
            guard isOwn(replica, of: receiver) || isClaimed else {
                let author = writers[replica]?.short ?? "nobody"
                throw leak("speaks by \(message) of a journal of \(author)", by: sender, to: receiver)
            }
        case .probeAnswer(_, let replica, let answer):
            guard isOwn(replica, of: receiver) || answer.boundary == nil else {
                throw leak("answers about a journal in \(job)", by: sender, to: receiver)
            }
        case .report(let report):
            guard report.vector.entries.isEmpty, report.digest.isEmpty else {
                throw leak("reports on \(job)", by: sender, to: receiver)
            }
        default:
            // It asks for what it was told of: what anybody has written is taken from them.
            guard isSpokenOf else { throw leak("speaks of \(job)", by: sender, to: receiver) }
        }
    }

    private func toldWords(
        _ statements: [Assignment], by sender: Holder, to receiver: Receiver, _ before: Int64
    ) throws {
        for statement in statements {
            let job = statement.job
            var known = sender.words[job] ?? SaidWords()
            let words = known
            known.add(statement)
            guard known == words else {
                throw leak("tells a word of \(job) that it does not know", by: sender, to: receiver)
            }
            guard isOutsider(receiver, of: job, for: sender, before) else { continue }
            count(.outsider)
            guard mayKnow(of: job, receiver, as: sender) else {
                throw leak("says who is on \(job)", by: sender, to: receiver)
            }
        }
    }

    /// Who is not on a job may know that there is one, and who is on it: whom words concern, who has shown that it knows, and leads.
    private func mayKnow(of job: JobID, _ receiver: Receiver, as sender: Holder) -> Bool {
        let isConcerned = sender.words[job]?.concern(receiver.device) ?? false
        // Its disk may have been set back since.
        let hasWritten = sender.references[job]?.journals.keys.contains { writers[$0] == receiver.device } ?? false
        return isConcerned || hasWritten || receiver.mayAssign || receiver.spokenOf.contains(job)
            || receiver.holds.contains(job)
    }

    /// A journal that it has written itself.
    private func isOwn(_ replica: ReplicaID, of receiver: Receiver) -> Bool { writers[replica] == receiver.device }

    private func leak(_ what: String, by sender: Holder, to receiver: Receiver) -> Violation {
        Violation("membership", "\(sender) \(what) to \(receiver.name), which is not on it.")
    }
}

extension Message {
    /// Of one job.
    var job: JobID? {
        switch self {
        case .vectorRequest(let job), .vector(let job, _, _), .have(let job, _), .request(let job, _, _, _, _),
            .credit(let job, _, _), .delta(let job, _, _), .prune(let job), .probe(let job, _, _),
            .probeAnswer(let job, _, _), .forked(let job, _), .reportRequest(let job, _):
            job
        case .report(let report): report.job
        default: nil
        }
    }

    /// All of which it speaks.
    var jobs: [JobID] {
        switch self {
        case .assignments(let statements): statements.map(\.job)
        case .summaries(_, let lines): lines.map(\.job)
        default: job.map { [$0] } ?? []
        }
    }
}
