import Authorship
package import CRDT
import FoundationEssentials
import HTTPCoding
import Identity
import Inventory

/// Checks a job's history line by line, and trusts nothing in it but the fleet's root.
package struct HistoryAudit: Sendable {
    /// It is no history, or cannot be read on.
    package struct Fault: Error, Hashable, Sendable {
        /// For people, with what to do.
        package let sentence: String
    }

    /// What somebody has written, and where.
    package struct WrittenChange: Sendable {
        /// Its place: journal and first sequence.
        package let dot: Dot
        /// As it stands there.
        package let change: Change
        /// Who was at its author's laptop, as the journal says; nil where it does not.
        package let person: String?
    }

    /// What is known of a journal so far.
    struct Journal {
        /// Who has signed where it ends, and so all of it.
        var author: JournalAuthor?
        var head = JournalHead.empty
        var changes = 0
        var first: Stamp?
        var last = Stamp.zero
        /// What its laptop calls itself.
        var name: String?
        /// Who was at it, in the order in which they came.
        var people: [String] = []
        var sessions = WorkSessions()
        /// Why it is not believed, from there on.
        var problem: String?
    }

    private(set) var header: HistoryLine.Job?
    private(set) var job: JobID?
    private(set) var journals: [ReplicaID: Journal] = [:]
    private(set) var isWhole = false
    /// Of customers, as they stand in the server's journal so far.
    private(set) var signatures: [AuditReport.Signature] = []
    private var authors: [ReplicaID: JournalAuthor] = [:]
    private var lines = 0
    private var runs = 0

    /// Of nothing yet.
    package init() {}

    /// - Parameters:
    ///   - bytes: the next line, without its end.
    ///   - each: is called for what its author has signed.
    package mutating func add(_ bytes: [UInt8], each: (WrittenChange) -> Void = { _ in }) throws(Fault) {
        lines += 1
        guard !isWhole else { throw fault("something follows its end") }
        let line: HistoryLine
        do {
            try JSON.check(bytes)
            line = try JSON.decode(from: bytes)
        } catch {
            throw lines == 1 ? .foreign : fault((error as? JSONFault)?.sentence ?? "it cannot be read")
        }
        switch line {
        case .job(let header): try begin(header)
        case _ where header == nil: throw .foreign
        case .author(let author): try meet(author)
        case .run(let run): try check(run, each: each)
        case .end(let end):
            guard end.runs == runs else { throw fault("\(runs) runs are here of \(end.runs)") }
            isWhole = true
        }
    }

    /// What the laptop of a journal calls itself, which anybody may, with the short id of its key; the server's without one.
    package func author(of replica: ReplicaID) -> String {
        guard replica != .channel else { return "the server" }
        return [journals[replica]?.name, journals[replica]?.author?.device.short].compactMap(\.self)
            .joined(separator: " ")
    }

    private mutating func begin(_ header: HistoryLine.Job) throws(Fault) {
        guard self.header == nil else { throw fault("it begins a second time") }
        guard header.version == 1 else {
            throw Fault(sentence: "The history was written by a newer Muster; update this one.")
        }
        guard let job = JobID(header.job) else { throw fault("\"\(header.job)\" is no job's id") }
        self.header = header
        self.job = job
    }

    private mutating func meet(_ line: HistoryLine.Author) throws(Fault) {
        let replica = try journal(line.journal)
        let nonce = line.nonce.flatMap { ReplicaID($0)?.value }
        guard (nonce == nil) == (line.nonce == nil),
            let author = JournalAuthor(
                key: Array(line.key), nonce: nonce, certificates: line.certificates.map { Array($0) })
        else { throw fault("an author cannot be read") }
        guard author.replica == replica else {
            return note("it bears a name that does not follow from its author's key", of: replica)
        }
        authors[author.name] = author
        // Until it has signed something this only says whose a journal is meant to be; then who has signed answers for it, and no line after
        // that takes its place. All servers write one journal.
        if journals[replica, default: Journal()].changes == 0 { journals[replica, default: Journal()].author = author }
    }

    private mutating func check(_ run: HistoryLine.Run, each: (WrittenChange) -> Void) throws(Fault) {
        runs += 1
        let replica = try journal(run.journal)
        guard let digest = JournalDigest(run.digest) else { throw fault("a digest cannot be read") }
        let known = journals[replica, default: Journal()]
        guard known.problem == nil else { return }
        guard run.first == known.head.sequence + 1 else {
            return note("what it holds between \(known.head.sequence) and \(run.first) is missing", of: replica)
        }
        let claimed = JournalHead(sequence: run.last, digest: digest)
        var (journal, written) = (known, [WrittenChange]())
        do {
            try ChangeCodec.scan(Array(run.changes)) { scanned, buffer in
                let dot = Dot(replica: replica, sequence: journal.head.sequence + 1)
                journal.head = journal.head.after(scanned, in: buffer)
                let change = ChangeCodec.decode(scanned, in: buffer)
                journal.add(change, at: dot)
                let person = journal.sessions.person(at: TimelineKey(change, at: dot))
                written.append(WrittenChange(dot: dot, change: change, person: person))
            }
        } catch {
            return note("what it holds after \(known.head.sequence) cannot be read", of: replica)
        }
        guard journal.head == claimed else {
            return note("what it holds after \(known.head.sequence) is not what was signed", of: replica)
        }
        let segment = JournalSegment(
            replica: replica, first: run.first, head: claimed, bytes: [],
            signature: JournalSignature(Array(run.signature ?? Data())))
        journal.author = segment.authorName.flatMap { authors[$0] }
        guard let job, let author = journal.author, let signature = segment.signature,
            author.hasSigned(claimed, job: job, signature, of: replica)
        else {
            return note("what it holds after \(known.head.sequence) was not signed by its author", of: replica)
        }
        journals[replica] = journal
        for written in written {
            if replica == .channel {
                let change = written.change
                signatures += change.operations.compactMap { AuditReport.Signature($0, at: change.stamp) }
            }
            each(written)
        }
    }

    private func journal(_ text: String) throws(Fault) -> ReplicaID {
        guard let replica = ReplicaID(text) else { throw fault("\"\(text)\" is no journal's name") }
        return replica
    }

    private mutating func note(_ problem: String, of replica: ReplicaID) {
        journals[replica, default: Journal()].problem = problem
    }

    private func fault(_ what: String) -> Fault {
        Fault(
            sentence: "Line \(lines) of the history is damaged (\(what)); \(Self.Fault.remedy).")
    }
}

extension HistoryAudit.Fault {
    /// Of an archived job the file is all there is: that is why people keep two.
    static let remedy =
        "take another copy of the file; while the job is there, 'muster job export JOB --format history' writes it anew"

    /// It is something else.
    package static var foreign: Self {
        Self(sentence: "This is no job's history; write one with 'muster job export JOB --format history'.")
    }
}

extension HistoryAudit.Journal {
    fileprivate mutating func add(_ change: Change, at dot: Dot) {
        let replica = dot.replica
        changes += 1
        note(change, at: dot)
        first = min(first ?? change.stamp, change.stamp)
        last = max(last, change.stamp)
        guard change.item == .job else { return }
        for case .set(JobProperty.author(replica), let value, _) in change.operations { name = value }
    }

    /// That are listed of a laptop, however many it says.
    private static let mostPeople = 256

    private mutating func note(_ change: Change, at dot: Dot) {
        guard let text = change.workSessionText(in: dot.replica) else { return }
        // Places tell all of it here, and no stamps.
        let record = WorkSessionRecord(
            journal: dot.replica, author: change.origin ?? dot.replica, sequence: dot.sequence, stamp: change.stamp,
            before: .zero, text: text)
        sessions.add(record)
        guard record.author == dot.replica, let person = record.session?.name else { return }
        guard people.count < Self.mostPeople, !people.contains(where: { FieldText.isSame($0, person) }) else { return }
        people.append(person)
    }
}
