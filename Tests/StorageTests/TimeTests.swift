import CRDT
import Foundation
import Inventory
import Simulation
import Storage
import Synchronization
import Testing
import Timekeeping

@Suite("Time in the store", .timeLimit(.minutes(1)))
struct TimeTests {
    private static let hour: UInt64 = 3_600_000
    private static let now: UInt64 = 1_800_000_000_000
    private let item = ItemID(UInt128(42))
    private let second = ItemID(UInt128(43))

    /// Some time after all that is written here.
    private static func time(isSynchronised: Bool) -> ReceiveTime {
        ReceiveTime(milliseconds: now + 4 * hour, isSynchronised: isSynchronised)
    }

    private func set(
        _ store: Store, _ value: String, on item: ItemID? = nil, at time: UInt64, synchronised: Bool = true
    ) async throws {
        let edit = Edit.put(item: item ?? self.item, fields: [Edit.FieldValue(field: "room", value: value)])
        _ = try await store.edit(
            job: Store.job, createsJob: true, nowMilliseconds: time, isSynchronised: synchronised, [edit])
    }

    private func room(_ store: Store) async throws -> String? {
        try await store.item(item, job: Store.job)?.value(of: "room")
    }

    private func stamps(_ store: Store, of item: ItemID? = nil) async throws -> [Stamp] {
        try await store.timeline(of: Store.job, item: item ?? self.item).rest().map(\.key.stamp)
    }

    private func run(of store: Store) async throws -> JournalSegment {
        try #require(
            try await store.segment(
                of: store.identity.replica, job: Store.job, from: 1, maximumBytes: 1 << 20))
    }

    // MARK: Changes from the future (rule R6)

    @Test("The stamp of a liar moves no clock, not after a restart either")
    func liarAcrossRestart() async throws {
        let place = try Place()
        let liar = try await place.open()
        try await set(liar, "attic", at: Self.now + Self.hour)
        let store = try await place.open("b")
        _ = try await store.ingest(
            try await run(of: liar), job: Store.job, now: ReceiveTime(milliseconds: Self.now, isSynchronised: false))
        try store.close()
        let again = try await place.open("b")
        try await set(again, "hall", on: second, at: Self.now + 5)
        let written = try await stamps(again, of: second).map(\.milliseconds)
        #expect(written == [Self.now + 5])
    }

    @Test("What comes from the future shows, and who writes on top of it wins, with the time known or not")
    func onTopOfTheFuture() async throws {
        let place = try Place()
        let (liar, store) = (try await place.open(), try await place.open("b"))
        try await set(liar, "attic", at: Self.now + 48 * Self.hour)
        _ = try await store.ingest(
            try await run(of: liar), job: Store.job, now: ReceiveTime(milliseconds: Self.now, isSynchronised: false))
        #expect(try await room(store) == "attic")
        try await set(store, "hall", at: Self.now)
        #expect(try await room(store) == "hall")
        _ = try await liar.ingest(
            try await run(of: store), job: Store.job, now: ReceiveTime(milliseconds: Self.now, isSynchronised: true))
        #expect(try await room(liar) == "hall")
    }

    // MARK: Unseen work (rule R5)

    @Test("Work without a known time is stamped anew in its order, on top of what its items held", arguments: [-3, 3])
    func restamped(hours: Int64) async throws {
        let place = try Place()
        let (store, other) = (try await place.open(), try await place.open("b"))
        try await set(other, "porch", at: Self.now - 10)
        _ = try await store.ingest(
            try await run(of: other), job: Store.job, now: ReceiveTime(milliseconds: Self.now, isSynchronised: false))
        for (index, room) in ["hall", "attic", "cellar"].enumerated() {
            try await set(store, room, at: Self.now + UInt64(index) * 1_000, synchronised: false)
        }
        let before = try await stamps(store)
        let vector = try await store.vector(of: Store.job)
        let step = hours * Int64(Self.hour)
        let done = try await store.restamp(by: step, now: Self.time(isSynchronised: true))
        let after = try await stamps(store)
        #expect(after.count == 4 && after == after.sorted())
        #expect(after[0] == before[0], "what another has written stays as it is")
        if hours > 0 {
            #expect(zip(before, after).dropFirst().allSatisfy { $0.milliseconds + UInt64(step) == $1.milliseconds })
        } else {
            #expect(after[1] == before[0].next && after[3].milliseconds == before[0].milliseconds)
        }
        #expect(try await room(store) == "cellar")
        let head = try await store.vector(of: Store.job)[store.identity.replica]
        #expect(done == [Restamped(job: Store.job, replica: store.identity.replica, head: head)])
        #expect(head.sequence == vector[store.identity.replica].sequence)
        #expect(head.digest != vector[store.identity.replica].digest)
        // Whoever gets it gets it whole, and the same.
        _ = try await other.ingest(try await run(of: store), job: Store.job, now: .anyTime)
        #expect(try await other.digest(of: Store.job).text == store.digest(of: Store.job).text)
        #expect(try await store.restamp(by: step, now: Self.time(isSynchronised: true)).isEmpty, "only once")
        #expect(try await store.integrityProblems().isEmpty)
    }

    @Test("Work is no longer unseen once the time is learned, though it was what was thought")
    func learnedWithoutStep() async throws {
        let place = try Place()
        let store = try await place.open()
        try await set(store, "hall", at: Self.now, synchronised: false)
        let before = try await stamps(store)
        let head = try await store.vector(of: Store.job)[store.identity.replica]
        let learned = try await store.restamp(by: 0, now: Self.time(isSynchronised: true))
        let same = Restamped(job: Store.job, replica: store.identity.replica, head: head)
        #expect(learned == [same], "nothing is shifted")
        // After another boot, when the time has to be learned anew.
        #expect(try await store.restamp(by: 5_000, now: Self.time(isSynchronised: true)).isEmpty)
        #expect(try await stamps(store) == before)
    }

    // It was taken for the old time and carried to the present, and all that was written after it with it: hours too late.
    @Test("What had to follow a later stamp still does after a step, and what was written then has its time")
    func followsAfterStep() async throws {
        let place = try Place()
        let (store, other) = (try await place.open(), try await place.open("b"))
        try await set(other, "porch", at: Self.now)
        let later = Self.now - 6 * Self.hour
        _ = try await store.ingest(
            try await run(of: other), job: Store.job, now: ReceiveTime(milliseconds: later, isSynchronised: false))
        try await set(store, "hall", at: later, synchronised: false)
        try await set(store, "den", on: second, at: later + 300, synchronised: false)
        let now = ReceiveTime(milliseconds: Self.now + Self.hour, isSynchronised: true)
        _ = try await store.restamp(by: 6 * Int64(Self.hour), now: now)
        let all = try await stamps(store)
        #expect(all.count == 2 && all[1] == all[0].next)
        let times = try await stamps(store, of: second).map(\.milliseconds)
        #expect(times == [Self.now + 300])
    }

    @Test("What is written on top of the far future draws no other work along when it is stamped anew")
    func futureDrawsNothingAlong() async throws {
        let place = try Place()
        let (store, liar) = (try await place.open(), try await place.open("b"))
        try await set(liar, "attic", at: Self.now + 48 * Self.hour)
        _ = try await store.ingest(
            try await run(of: liar), job: Store.job, now: ReceiveTime(milliseconds: Self.now, isSynchronised: false))
        try await set(store, "hall", at: Self.now, synchronised: false)
        try await set(store, "den", on: second, at: Self.now + 1_000, synchronised: false)
        let learned = ReceiveTime(milliseconds: Self.now + 6_000, isSynchronised: true)
        _ = try await store.restamp(by: 5_000, now: learned)
        #expect(try await stamps(store).last?.milliseconds == Self.now + 48 * Self.hour)
        #expect(try await room(store) == "hall")
        let den = try await stamps(store, of: second).map(\.milliseconds)
        #expect(den == [Self.now + 6_000])
    }

    // What was the future when it was written may be the past when the time is learned, and is no reason then either.
    @Test("What was written on top of the future draws no other work along when that has become the past")
    func formerFutureDrawsNothingAlong() async throws {
        let place = try Place()
        let (store, other) = (try await place.open(), try await place.open("b"))
        try await set(other, "attic", at: Self.now + Self.hour)
        _ = try await store.ingest(
            try await run(of: other), job: Store.job, now: ReceiveTime(milliseconds: Self.now, isSynchronised: false))
        let ahead = 13 * Self.hour
        try await set(store, "hall", at: Self.now + ahead, synchronised: false)
        try await set(store, "den", on: second, at: Self.now + ahead + 1_000, synchronised: false)
        let learned = ReceiveTime(milliseconds: Self.now + 4 * Self.hour, isSynchronised: true)
        _ = try await store.restamp(by: -Int64(ahead), now: learned)
        let all = try await stamps(store)
        #expect(all.count == 2 && all[1] == all[0].next)
        let times = try await stamps(store, of: second).map(\.milliseconds)
        #expect(times == [Self.now + 1_000])
    }

    // The step is that of the last boot's clock, and of no earlier one's.
    @Test("Work of two boots whose clocks were hours apart keeps its order, and the later has its time")
    func ordersBoots() async throws {
        let place = try Place()
        let store = try await place.open()
        try await set(store, "hall", at: Self.now + 3 * Self.hour, synchronised: false)
        try await set(store, "den", on: second, at: Self.now + 600_000, synchronised: false)
        let learned = ReceiveTime(milliseconds: Self.now + 24 * Self.hour + 1_200_000, isSynchronised: true)
        _ = try await store.restamp(by: 24 * Int64(Self.hour), now: learned)
        let times = try await stamps(store, of: second)
        #expect(times.map(\.milliseconds) == [Self.now + 24 * Self.hour + 600_000])
        let hall = try #require(try await stamps(store).last)
        #expect(hall.milliseconds == Self.now + 24 * Self.hour + 600_000 && times.allSatisfy { hall < $0 })
    }

    @Test("Work that may have been seen is never stamped anew, nor work with a known time")
    func seenStays() async throws {
        let place = try Place()
        let store = try await place.open()
        try await set(store, "hall", at: Self.now, synchronised: false)
        try await store.beginExposure()
        try await set(store, "attic", at: Self.now + 1, synchronised: false)
        let before = try await stamps(store)
        #expect(try await store.restamp(by: 5_000, now: Self.time(isSynchronised: false)).isEmpty)
        store.endExposure()
        try await set(store, "cellar", at: Self.now + 2, synchronised: false)
        _ = try await store.restamp(by: 5_000, now: Self.time(isSynchronised: true))
        let after = try await stamps(store)
        #expect(after.prefix(2) == before[...])
        #expect(after.last?.milliseconds == Self.now + 5_002)
        try await set(store, "loft", at: Self.now + 9_000)
        #expect(try await store.restamp(by: 5_000, now: Self.time(isSynchronised: true)).isEmpty)
    }

    @Test("A step that a full disk refuses takes neither the time nor the last stamp back")
    func refusedStep() async throws {
        var generator = SeededGenerator(seed: 1)
        let store = try Store.openInMemory(
            place: StorePlace(machine: "m", file: "f"), hostName: "anna", signer: TestSigner(1), generator: &generator)
        try await set(store, "hall", at: Self.now, synchronised: false)
        let last = try #require(try await stamps(store).last)
        store.setDiskFull(true)
        let undone = Mutex(0)
        let earlier = ReceiveTime(milliseconds: Self.now - Self.hour, isSynchronised: true)
        await #expect(throws: StoreError.self) {
            try await store.restamp(
                taking: {
                    TakenStep(ClockStep(milliseconds: -Int64(Self.hour), now: earlier)) { undone.withLock { $0 += 1 } }
                })
        }
        store.setDiskFull(false)
        #expect(undone.withLock { $0 } == 1)
        #expect(try await stamps(store).last == last)
        try await set(store, "attic", on: second, at: Self.now, synchronised: false)
        let next = try #require(try await store.timeline(of: Store.job, item: ItemID(43)).rest().last?.key.stamp)
        #expect(next > last)
    }

    @Test("A link that could not be exposed may have been: what is written counts as seen until it is gone")
    func refusedExposure() async throws {
        var generator = SeededGenerator(seed: 1)
        let store = try Store.openInMemory(
            place: StorePlace(machine: "m", file: "f"), hostName: "anna", signer: TestSigner(1), generator: &generator)
        try await set(store, "hall", at: Self.now, synchronised: false)
        store.setDiskFull(true)
        await #expect(throws: StoreError.self) { try await store.beginExposure() }
        store.setDiskFull(false)
        try await store.beginExposure()
        try await set(store, "attic", at: Self.now + 1, synchronised: false)
        #expect(try await store.restamp(by: 5_000, now: Self.time(isSynchronised: false)).isEmpty)
        store.endExposure()
        try await set(store, "cellar", at: Self.now + 2, synchronised: false)
        #expect(try await store.restamp(by: 5_000, now: Self.time(isSynchronised: true)).count == 1)
    }

    @Test("What is known of the time is kept, and a step together with what it moved")
    func clockRecord() async throws {
        let place = try Place()
        let store = try await place.open()
        #expect(try await store.clockRecord() == nil)
        let record = { (source: TimeSource?, offset: Int64) in
            ClockRecord(
                boot: "b", offset: offset, uncertainty: 12, stratum: 1, measured: 7, source: source, wallDrift: -9)
        }
        for source in [nil, .server, .peer("anna")] as [TimeSource?] {
            try await store.keep(record(source, 5))
            #expect(try await store.clockRecord() == record(source, 5))
        }
        try await set(store, "hall", at: Self.now, synchronised: false)
        _ = try await store.restamp(by: 1_000, now: Self.time(isSynchronised: true), record(.server, 6))
        try store.close()
        let again = try await place.open()
        #expect(try await again.clockRecord() == record(.server, 6))
        #expect(try await stamps(again).last?.milliseconds == Self.now + 1_000)
    }
}

private struct TestFailure: Error {
    let what: String
    init(_ what: String) { self.what = what }
}

extension Store {
    fileprivate func restamp(
        by milliseconds: Int64, now: ReceiveTime, _ record: ClockRecord? = nil
    ) async throws -> [Restamped] {
        try await restamp(taking: { TakenStep(ClockStep(milliseconds: milliseconds, now: now, record: record)) })
    }
}
