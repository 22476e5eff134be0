import CRDT
import Replication
import Simulation
import Testing

@Suite("What arrives together is stored together")
struct IngestQueueTests {
    /// How long each edit of a peer takes from its arrival until it is durable, in milliseconds.
    ///
    /// - Parameter together: false stores one at a time, as if each waited for the one before.
    private func latencies(of arrivals: [UInt64], flush: UInt64, together: Bool = true) -> [UInt64] {
        var queue = IngestQueue()
        var pending: [IngestQueue.Run] = []
        var arrived: [UInt64: UInt64] = [:]
        var latencies: [UInt64] = []
        var storing: (batch: [IngestQueue.Run], end: UInt64)?
        var next = 0
        while next < arrivals.count || storing != nil || !pending.isEmpty {
            let time = min(next < arrivals.count ? arrivals[next] : .max, storing?.end ?? .max)
            if let done = storing, done.end == time {
                for run in done.batch { latencies.append(time - (arrived[run.segment.first] ?? 0)) }
                queue.finished(done.batch)
                storing = nil
            } else {
                arrived[UInt64(next + 1)] = time
                pending.append(run(UInt64(next + 1)))
                next += 1
            }
            // One at a time: the next one is read only when the one before is durable.
            while !pending.isEmpty, together || storing == nil {
                queue.add(pending.removeFirst())
                guard !together else { continue }
                break
            }
            let batch = queue.nextBatch()
            if !batch.isEmpty { storing = (batch, time + flush) }
        }
        return latencies
    }

    private func run(_ sequence: UInt64, link: UInt64 = 1, bytes: Int = 120) -> IngestQueue.Run {
        let head = JournalHead(sequence: sequence, digest: JournalDigest(sequence))
        let segment = JournalSegment(
            replica: ReplicaID(7), first: sequence, head: head, bytes: [UInt8](repeating: 0, count: bytes))
        return IngestQueue.Run(job: JobID(ItemID(1)), segment: segment, link: LinkID(number: link))
    }

    @Test("A crew's edits keep up with a slow disk", arguments: [5, 20, 50, 200, 500] as [UInt64])
    func keepsUp(flush: UInt64) {
        // 157 edits in eight seconds.
        let arrivals = (0..<157 as Range<UInt64>).map { $0 * 8_000 / 157 }
        let latencies = latencies(of: arrivals, flush: flush)
        #expect(latencies.count == arrivals.count)
        #expect(latencies.max() ?? .max <= 2 * flush, "the flush that is under way and its own")
        if flush == 200 {
            let alone = self.latencies(of: arrivals, flush: flush, together: false)
            #expect(alone.max() ?? 0 > 20_000, "one by one they fall behind: the test sees what it is for")
        }
    }

    @Test("What came first is stored first, and no batch of several is larger than its bound")
    func order() {
        var queue = IngestQueue()
        for sequence in 1...100 as ClosedRange<UInt64> { queue.add(run(sequence, bytes: 60 << 10)) }
        var stored: [UInt64] = []
        while case let batch = queue.nextBatch(), !batch.isEmpty {
            #expect(queue.nextBatch().isEmpty, "one at a time")
            #expect(batch.reduce(0) { $0 + $1.segment.bytes.count } <= IngestQueue.batchBytes)
            stored += batch.map(\.segment.first)
            queue.finished(batch)
        }
        #expect(stored == Array(1...100))
    }

    @Test("A link that brings more than was asked for is held back until some of it is durable")
    func backPressure() {
        var queue = IngestQueue()
        let flooding = LinkID(number: 1)
        var count: UInt64 = 0
        while !queue.isFull(flooding) {
            count += 1
            queue.add(run(count, bytes: 256 << 10))
        }
        #expect(count <= 33, "8 MiB")
        #expect(!queue.isFull(LinkID(number: 2)), "the others are not")
        queue.finished(queue.nextBatch())
        #expect(!queue.isFull(flooding))
    }
}
