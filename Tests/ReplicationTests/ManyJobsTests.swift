import CRDT
import Foundation
import Testing

@testable import Replication

@Suite("Laptops that hold many jobs", .timeLimit(.minutes(2)))
struct ManyJobsTests {
    private func jobs(_ count: Int) -> [JobID] { (1...count).map { JobID(ItemID(UInt128($0) << 64 | 7)) } }

    private func journals(_ jobs: [JobID], of replicas: Range<UInt128>) -> [JournalName] {
        jobs.flatMap { job in replicas.map { JournalName(job: job, replica: ReplicaID($0)) } }
    }

    @Test("Two that hold the same 5,000 jobs say one word each")
    func equal() {
        let held = journals(jobs(5_000), of: 10..<11)
        var pair = Pair([held, held])
        pair.connect()
        pair.settle(for: 100)
        #expect(pair.messages == 2)
        #expect(pair.sides.allSatisfy { $0.mesh.links[pair.link]?.jobs.isEmpty ?? false }, "equal jobs cost no memory")
        #expect(pair.sides.allSatisfy { $0.mesh.overview().map(\.behind) == [0] })
    }

    @Test("Where one of 5,000 jobs differs, a few messages find it")
    func oneDiffers() {
        let all = jobs(5_000)
        let held = journals(all, of: 10..<11)
        let more = JournalName(job: all[1_234], replica: ReplicaID(11))
        var pair = Pair([held + [more], held])
        pair.connect()
        pair.settle()
        #expect(pair.vectors(0, of: all) == pair.vectors(1, of: all))
        #expect(pair.messages < 30, "\(pair.messages)")
        #expect(pair.refusals.isEmpty)
    }

    @Test("To catch up with eight times as many jobs is eight times the work")
    func catchingUpIsLinear() {
        var messagesPerJob: [Double] = []
        var secondsPerJob: [Double] = []
        for count in [400, 3_200] {
            let all = jobs(count)
            var pair = Pair([journals(all, of: 10..<11), []])
            let start = cpuSeconds()
            pair.connect()
            pair.settle()
            secondsPerJob.append((cpuSeconds() - start) / Double(count))
            messagesPerJob.append(Double(pair.messages) / Double(count))
            #expect(pair.vectors(0, of: all) == pair.vectors(1, of: all))
            #expect(pair.refusals.isEmpty)
        }
        #expect(messagesPerJob[1] < messagesPerJob[0] + 1 && messagesPerJob[1] < 8, "\(messagesPerJob)")
        // Each event costs the same however many jobs there are: with a look at all of them it would be eight times as much.
        #expect(secondsPerJob[1] < 3 * secondsPerJob[0], "\(secondsPerJob)")
    }

    private func cpuSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test(
        "Jobs of 500 laptops each are compared without a refusal, and without remembering all of them",
        arguments: [(jobs: 1_000, differing: 30), (jobs: 150, differing: 150)])
    func wholeFleet(size: (jobs: Int, differing: Int)) {
        let all = jobs(size.jobs)
        let held = journals(all, of: 10..<510)
        var pair = Pair([held, held + journals(Array(all.prefix(size.differing)), of: 600..<601)])
        pair.connect()
        pair.settle(for: 5_000)
        #expect(pair.refusals.isEmpty)
        #expect(pair.vectors(0, of: all) == pair.vectors(1, of: all))
        #expect(pair.mostEntries > 10_000, "much was compared")
        #expect(pair.mostEntries <= MeshLimits.entriesPerLink + MeshLimits.vectorsUnderWay * 501)
    }

    @Test("Room that jobs of which the peer lacks something take does not keep back what it has to give")
    func roomIsShared() {
        let all = jobs(MeshLimits.openJobsPerLink + 500)
        var pair = Pair([journals(all, of: 10..<11), []])
        pair.connect()
        // The peer's disk is full: it asks for nothing, and has written one job before.
        let own = JournalName(job: JobID(ItemID(1)), replica: ReplicaID(2))
        pair.write(own, at: 1)
        pair.sides[1].mesh.storeRetryDue = .max
        pair.settle(for: 61_000)
        #expect(pair.mostJobs <= MeshLimits.openJobsPerLink + 1)
        #expect(pair.sides[0].mesh.vector(of: own.job)[own.replica].sequence == 1)
    }

    @Test("An edit while many jobs are being compared is not kept waiting by them")
    func liveEdit() {
        let all = jobs(2_000)
        var pair = Pair([journals(all, of: 10..<11), []])
        pair.connect()
        let own = JournalName(job: all[1_999], replica: ReplicaID(1))
        pair.write(own, at: 0)
        pair.settle(for: 300)
        #expect(pair.sides[1].mesh.vector(of: own.job)[own.replica].sequence == 1)
    }

    @Test("What equal laptops write goes to the other, and is forgotten as a difference when it is quiet")
    func quietAgain() {
        let all = jobs(50)
        let held = journals(all, of: 10..<11)
        var pair = Pair([held, held])
        pair.connect()
        pair.settle(for: 100)
        for job in all {
            pair.write(JournalName(job: job, replica: ReplicaID(1)), at: 0)
            pair.write(JournalName(job: job, replica: ReplicaID(2)), at: 1)
        }
        pair.settle()
        #expect(pair.vectors(0, of: all) == pair.vectors(1, of: all))
        #expect(pair.mostJobs == 50)
        pair.settle(for: 60_000)
        #expect(pair.sides.allSatisfy { $0.mesh.links[pair.link]?.jobs.isEmpty ?? false })
        #expect(pair.sides.allSatisfy { $0.mesh.links[pair.link]?.entryCount == 0 })
        pair.disconnect()
        let before = pair.messages
        pair.connect()
        pair.settle(for: 100)
        #expect(pair.messages == before + 2, "equal again")
    }

    @Test("A journal whose last byte takes the last credit leaves nothing behind at the giver")
    func exactCredit() {
        let job = jobs(1)[0]
        var pair = Pair([journals([job], of: 10..<11), []])
        pair.connect()
        pair.settle()
        // 200 bytes are held: exactly the credit.
        let name = JournalName(job: job, replica: ReplicaID(10))
        let directives = pair.sides[0].mesh.onRequest(name, from: 1, credit: 200, on: pair.link)
        #expect(directives.count == 1)
        _ = pair.sides[0].mesh.onLoaded(
            Pair.segment(of: name, 1), job: job, replica: name.replica, asked: 1, for: pair.link, now: pair.now)
        #expect(pair.sides[0].mesh.links[pair.link]?.streams.isEmpty ?? false)
    }
}
