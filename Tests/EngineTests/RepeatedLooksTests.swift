import CRDT
import Testing

@testable import Engine

@Suite("When the server is asked again about jobs that this laptop is not on")
struct RepeatedLooksTests {
    private static let minute: UInt64 = 60_000

    private func jobs(_ count: UInt64) -> [JobID] {
        (0..<count).map { JobID(ItemID(UInt128($0 + 1))) }
    }

    @Test("After ten minutes, a few jobs at a time, until each has had its turn")
    func turns() {
        var looks = RepeatedLooks()
        let all = jobs(12)
        for job in all { looks.note(job, isOwnOnly: true, isChanged: true, now: 0) }
        #expect(looks.begin(now: 9 * Self.minute).isEmpty)
        var asked: [JobID] = []
        for round in 0..<3 {
            let now = looks.begin(now: 10 * Self.minute + UInt64(round))
            #expect(now.count <= 5)
            asked += now
        }
        #expect(asked.count == 12 && Set(asked) == Set(all))
        #expect(looks.begin(now: 10 * Self.minute + 3).isEmpty, "also where nothing came of it")
    }

    @Test("Ever less often where nothing becomes of them, and as at first where something has")
    func intervals() throws {
        var looks = RepeatedLooks()
        let job = try #require(jobs(1).first)
        looks.note(job, isOwnOnly: true, isChanged: true, now: 0)
        var times: [UInt64] = []
        for minute in 1...1_440 where !looks.begin(now: UInt64(minute) * Self.minute).isEmpty {
            times.append(UInt64(minute))
            looks.note(job, isOwnOnly: true, isChanged: false, now: UInt64(minute) * Self.minute)
        }
        #expect(times.prefix(4) == [10, 30, 70, 150])
        #expect(times.count < 12)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 <= 240 }, "each job is asked about six times a day")
        looks.note(job, isOwnOnly: true, isChanged: true, now: 2_000 * Self.minute)
        #expect(looks.begin(now: 2_010 * Self.minute) == [job])
    }

    @Test("Of a job that it is on again the server says by itself what becomes of it")
    func backOn() throws {
        var looks = RepeatedLooks()
        let job = try #require(jobs(1).first)
        looks.note(job, isOwnOnly: true, isChanged: true, now: 0)
        looks.note(job, isOwnOnly: false, isChanged: true, now: 1)
        #expect(looks.begin(now: 100 * Self.minute).isEmpty)
    }
}
