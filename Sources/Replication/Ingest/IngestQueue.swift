package import CRDT

/// What has arrived and is to be made durable: all of it goes into the next flush together.
///
/// A flush of a slow disk takes as long for one change as for a hundred. Taken one by one, the edits of a crew arrive
/// faster than they are stored, and fall ever farther behind. Here an edit waits at most for the flush that is under way
/// and for its own. A value: the shell stores a batch, then says so.
package struct IngestQueue: Sendable {
    /// A run of a journal that the mesh wants persisted.
    package struct Run: Hashable, Sendable {
        /// The job whose journal it continues; it may be new here.
        package let job: JobID
        /// The run as it came: whether its bytes are changes and lead to its digest, the store finds out.
        package let segment: JournalSegment
        /// Who brought it, and is not read on while too much of it waits. It may be closed by now.
        package let link: LinkID

        /// Holds the parts of one `MessageDirective.persist`.
        package init(job: JobID, segment: JournalSegment, link: LinkID) {
            self.job = job
            self.segment = segment
            self.link = link
        }

        /// What it costs in memory: many small ones weigh more than they are long.
        var cost: Int { segment.bytes.count + 512 }
    }

    /// A link is not read on while so much of it waits: what was asked for and some pushed pieces.
    package static let limitPerLink = 8 << 20
    /// A batch of several runs is no longer than this: one transaction must not hold up the people at this laptop.
    package static let batchBytes = JournalSegment.usualBytes

    private var waiting: [Run] = []
    private var costs: [LinkID: Int] = [:]
    private var isStoring = false

    /// Begins with nothing that waits.
    package init() {}

    /// Lets a run wait behind those that came before it, and counts it against its link until `finished`.
    package mutating func add(_ run: Run) {
        waiting.append(run)
        costs[run.link, default: 0] += run.cost
    }

    /// What to store now, in the order in which it came; empty while a batch is being stored, or nothing waits.
    package mutating func nextBatch() -> [Run] {
        guard !isStoring, !waiting.isEmpty else { return [] }
        isStoring = true
        var cost = 0
        let end = waiting.firstIndex { run in
            defer { cost += run.cost }
            return cost > 0 && cost + run.cost > Self.batchBytes
        }
        defer { waiting.removeFirst(end ?? waiting.count) }
        return Array(waiting[..<(end ?? waiting.count)])
    }

    /// A batch is durable, or has failed.
    package mutating func finished(_ batch: [Run]) {
        isStoring = false
        for run in batch {
            let cost = (costs[run.link] ?? 0) - run.cost
            costs[run.link] = cost > 0 ? cost : nil
        }
    }

    /// Whether something of a link has yet to be stored.
    package func holds(_ link: LinkID) -> Bool { costs[link] != nil }

    /// Whether a link has to wait until some of what it has brought is durable.
    package func isFull(_ link: LinkID) -> Bool { costs[link] ?? 0 >= Self.limitPerLink }
}
