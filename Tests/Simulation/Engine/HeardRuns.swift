import Authorship
import CRDT

/// What a traitor has heard of others' journals, the server's among them.
struct HeardRuns {
    struct Name: Hashable {
        let job: JobID
        let replica: ReplicaID
    }

    /// A run as it was heard.
    struct Run {
        let job: JobID
        let segment: JournalSegment
    }

    private static let mostNames = 64
    private static let mostRuns = 16
    private static let longestRun = 16 << 10

    private var runs: [Name: [JournalSegment]] = [:]
    /// In the order in which they were heard of.
    private(set) var names: [Name] = []
    /// By their names (`JournalAuthor.name`).
    private(set) var authors: [ReplicaID: JournalAuthor] = [:]
    private(set) var removals: [JobID: JobRemoval] = [:]

    mutating func add(_ segment: JournalSegment, of job: JobID, using generator: inout SeededGenerator) {
        if let author = segment.author { authors[author.name] = author }
        guard segment.bytes.count <= Self.longestRun else { return }
        let name = Name(job: job, replica: segment.replica)
        if runs[name] == nil {
            guard names.count < Self.mostNames else { return }
            names.append(name)
        }
        let count = runs[name]?.count ?? 0
        guard count == Self.mostRuns else {
            runs[name, default: []].append(segment)
            return
        }
        // The first ones stay: they show where a journal begins.
        runs[name]?[Int.random(in: 4..<count, using: &generator)] = segment
    }

    /// Of which it has heard anything.
    var jobs: Set<JobID> { Set(names.map(\.job)).union(removals.keys) }

    func author(of segment: JournalSegment) -> JournalAuthor? { segment.authorName.flatMap { authors[$0] } }

    /// A server that was set back says something else in the place of what only a traitor has kept: which of both a laptop hears
    /// first then decides (docs/threat-model.md).
    mutating func forgetServersWords() {
        names.removeAll { $0.replica == .channel }
        runs = runs.filter { $0.key.replica != .channel }
    }

    mutating func add(_ removal: JobRemoval?, of job: JobID) { removals[job] = removal ?? removals[job] }

    func pick(using generator: inout SeededGenerator) -> Run? {
        guard !names.isEmpty else { return nil }
        let name = generator.pick(names)
        return runs[name].map { Run(job: name.job, segment: generator.pick($0)) }
    }

    /// One that begins at a sequence, if there is one.
    func run(of name: Name, from sequence: UInt64, using generator: inout SeededGenerator) -> JournalSegment? {
        let found = (runs[name] ?? []).compactMap { $0.rest(from: sequence) }
        return found.isEmpty ? nil : generator.pick(found)
    }

    func runs(of name: Name) -> [JournalSegment] { runs[name] ?? [] }

    /// How far the runs reach that are here.
    func vector(of job: JobID) -> VersionVector {
        VersionVector(
            names.filter { $0.job == job }.flatMap { name in
                (runs[name] ?? []).map { VersionVector.Entry(replica: name.replica, head: $0.head) }
            })
    }
}

extension JournalSegment {
    /// What follows the sequences before this one; nil when no change begins there.
    fileprivate func rest(from sequence: UInt64) -> JournalSegment? {
        var next = first
        var start: Int?
        try? ChangeCodec.scan(bytes) { scanned, _ in
            if next == sequence { start = scanned.record.lowerBound }
            next += UInt64(scanned.operationCount)
        }
        guard let start else { return nil }
        return JournalSegment(
            replica: replica, first: sequence, head: head, bytes: Array(bytes[start...]), signature: signature,
            author: author)
    }
}
