import CRDT
import Inventory
import Logging
import Simulation
import Storage
import Synchronization
import Testing

@testable import Node

@Suite("Housekeeping", .timeLimit(.minutes(1)))
struct HousekeepingTests {
    private struct FullDisk: Error {}

    private static func store() throws -> Store {
        var generator = SeededGenerator(seed: 1)
        return try Store.openInMemory(
            place: StorePlace(machine: "laptop", file: "store"), hostName: "anna", signer: TestSigner(1),
            generator: &generator)
    }

    @Test("A job that could not be tidied up is tried again, though nothing more changes")
    func triesAgain() async throws {
        let store = try Self.store()
        let edit = Edit.put(item: ItemID(1), fields: [Edit.FieldValue(field: "name", value: "Lamp")])
        let job = JobID(ItemID(2))
        _ = try await store.edit(
            job: job, createsJob: true, now: { ReceiveTime(milliseconds: 1_000, isSynchronised: true) }, [edit])
        let tries = Mutex(0)
        let (done, report) = AsyncStream<Void>.makeStream()
        let housekeeping = Housekeeping(
            store: store, logger: Logger(label: "test"), quiet: .milliseconds(5), retry: .milliseconds(10)
        ) { _ in
            let number = tries.withLock { count in
                count += 1
                return count
            }
            if number < 3 { throw FullDisk() }
            report.yield()
            return nil
        }
        let running = Task { try await housekeeping.run() }
        housekeeping.jobChanged(job)
        for await _ in done { break }
        #expect(tries.withLock { $0 } == 3)
        running.cancel()
    }

    @Test("What was made of many jobs and could not be written down is written down when there is room")
    func fullDisk() async throws {
        let store = try Self.store()
        let edit = Edit.put(item: ItemID(1), fields: [Edit.FieldValue(field: "name", value: "Lamp")])
        // More than are written down together.
        let jobs = (1...70).map { JobID(ItemID($0)) }
        for job in jobs {
            _ = try await store.edit(
                job: job, createsJob: true, now: { ReceiveTime(milliseconds: 1_000, isSynchronised: true) }, [edit])
        }
        store.setDiskFull(true)
        let (failures, warnings) = AsyncStream<Void>.makeStream()
        let logger = Logger(label: "test") { _ in WarningCounter(warnings: warnings) }
        let housekeeping = Housekeeping(
            store: store, logger: logger, quiet: .milliseconds(5), retry: .milliseconds(10))
        let running = Task { try await housekeeping.run() }
        for job in jobs { housekeeping.jobChanged(job) }
        for await _ in failures { break }
        #expect(try await store.restNote(of: jobs[0]) != nil)
        store.setDiskFull(false)
        for job in jobs {
            while try await store.restNote(of: job) != nil { try await Task.sleep(for: .milliseconds(5)) }
        }
        running.cancel()
    }

    private struct WarningCounter: LogHandler {
        let warnings: AsyncStream<Void>.Continuation
        var logLevel = Logger.Level.warning
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { warnings.yield() }
    }

    @Test("A job that changes all the time keeps no other waiting")
    func busyNeighbour() async throws {
        let store = try Self.store()
        let (busy, idle) = (JobID(ItemID(2)), JobID(ItemID(3)))
        let (settled, report) = AsyncStream<JobID>.makeStream()
        let housekeeping = Housekeeping(
            store: store, logger: Logger(label: "test"), quiet: .milliseconds(40), retry: .milliseconds(10)
        ) { job in
            report.yield(job)
            return nil
        }
        let running = Task { try await housekeeping.run() }
        let changing = Task {
            while !Task.isCancelled {
                housekeeping.jobChanged(busy)
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        housekeeping.jobChanged(idle)
        for await job in settled where job == idle { break }
        changing.cancel()
        running.cancel()
    }
}
