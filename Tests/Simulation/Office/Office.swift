import CRDT
import Outbox
import Storage

/// The company's server: its production store, and what the program around it does with what laptops ask.
final class Office: Holder {
    struct Backup {
        let contents: [UInt8]
        let references: [JobID: Reference]
    }

    /// What it and the way to it do by chance; laptops have a chance of their own.
    var generator: SeededGenerator
    var isUp = true
    /// It was set back, takes its own words from laptops and says nothing (`--recover`).
    var isRecovering = false
    /// Answers nothing but that it is busy, until then.
    var illUntil: Int64 = 0
    var isDiskFull = false
    var backup: Backup?
    /// How often it was set back. That takes a while: what was under way before ends without an answer.
    var life = 0
    var isAccepting: Set<JobID> = []
    /// It was set back, and its people do not know yet: it serves on.
    var isUnaware = false
    var entries = 0

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed ^ 0x0ff1_ce00)
        super.init("the office", store: try Self.store(nil, using: &generator))
    }

    private static func store(_ contents: [UInt8]?, using generator: inout SeededGenerator) throws -> Store {
        try Store.openInMemory(
            contents: contents, place: StorePlace(machine: "office", file: "1"), hostName: "office", role: .channel,
            generator: &generator)
    }

    func open(_ contents: [UInt8]) throws {
        store = try Self.store(contents, using: &generator)
        store.setDiskFull(isDiskFull)
        isAccepting = []
        isFreeing = false
    }

    /// Its clock is the true one.
    func receiveTime(at now: Int64) -> ReceiveTime {
        ReceiveTime(milliseconds: UInt64((VirtualClock.epoch + now) / 1_000), isSynchronised: true)
    }

    /// - Returns: how far it holds the journals of the job.
    func vector(of job: JobID) async throws -> VersionVector {
        do { return try await store.vector(of: job) } catch let error as StoreError where error.code == .unknownJob {
            return VersionVector()
        }
    }
}
