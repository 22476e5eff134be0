import Authorship
import CRDT
import Foundation
import Inventory
import Simulation
import Storage

/// A directory for stores, gone with the test.
final class Place {
    let directory: String
    var generator = SeededGenerator(seed: 1)

    init() throws {
        directory = NSTemporaryDirectory() + "muster-store-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func path(_ name: String = "a") -> String { "\(directory)/\(name).sqlite" }

    func open(
        _ name: String = "a", machine: String = "laptop", upgrade: StoreUpgrade = StoreUpgrade(program: "1.0.0")
    ) async throws -> Store {
        let store = try Store.open(
            path: path(name), machine: machine, hostName: "anna", upgrade: upgrade, generator: &generator)
        try await store.takeUp(TestSigner(named: machine), using: &generator)
        return store
    }

    /// What "laptop" would have signed if the run led there.
    func sign(_ segment: JournalSegment, upTo head: JournalHead) throws -> JournalSegment {
        JournalSegment(
            replica: segment.replica, first: segment.first, head: head, bytes: segment.bytes,
            signature: TestSigner(named: "laptop").sign(head, of: segment.replica, job: Store.job),
            author: segment.author)
    }

    /// Copies a closed store, log and all, to a new file.
    func copy(_ name: String, to copy: String) throws {
        for suffix in ["", "-wal", "-opened"] where FileManager.default.fileExists(atPath: path(name) + suffix) {
            try FileManager.default.copyItem(atPath: path(name) + suffix, toPath: path(copy) + suffix)
        }
    }

    /// Puts the content of one file into another that keeps its identity, as a restore in place does.
    ///
    /// - Parameter isWhole: all files are set back, as those of a virtual machine are.
    func overwrite(_ name: String, with other: String, isWhole: Bool = true) throws {
        if isWhole {
            try? FileManager.default.removeItem(atPath: path(name) + "-opened")
            try FileManager.default.copyItem(atPath: path(other) + "-opened", toPath: path(name) + "-opened")
        }
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path(name) + suffix) }
        let content = try Data(contentsOf: URL(fileURLWithPath: path(other)))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path(name)))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: content)
        try file.close()
        if FileManager.default.fileExists(atPath: path(other) + "-wal") {
            try FileManager.default.copyItem(atPath: path(other) + "-wal", toPath: path(name) + "-wal")
        }
    }
}

extension Store {
    static let job = JobID(ItemID(77))

    /// Edits at a time that the test says.
    func edit(
        job: JobID, createsJob: Bool = false, requires requirement: ItemRequirement = .none,
        isAllOrNothing: Bool = false,
        nowMilliseconds: UInt64, isSynchronised: Bool = true, _ edits: [Edit]
    ) async throws -> EditResult {
        let now = ReceiveTime(milliseconds: nowMilliseconds, isSynchronised: isSynchronised)
        return try await edit(
            job: job, createsJob: createsJob, requires: requirement, isAllOrNothing: isAllOrNothing,
            now: { now }, edits)
    }

    @discardableResult
    func put(_ item: UInt128, _ field: FieldName = "name", _ value: String, now: UInt64 = 1_000) async throws -> Commit
    {
        let fields = [Edit.FieldValue(field: field, value: value)]
        let result = try await edit(
            job: Self.job, createsJob: true, nowMilliseconds: now, [.put(item: ItemID(item), fields: fields)])
        guard let commit = result.commit else { throw result.refusals.compactMap { $0 }.first ?? EditRefusal.noFields }
        return commit
    }

    /// Everything that `other` lacks, as a peer would bring it.
    func send(to other: Store) async throws -> [IngestResult] {
        var outcomes: [IngestResult] = []
        for entry in try await vector(of: Self.job).entries {
            let known = try? await other.vector(of: Self.job)[entry.replica].sequence
            guard
                let segment = try await segment(
                    of: entry.replica, job: Self.job, from: (known ?? 0) + 1, maximumBytes: .max)
            else { continue }
            outcomes.append(try await other.ingest(segment, job: Self.job, now: .anyTime).result)
        }
        return outcomes
    }

    func exported() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        let cursor = try exportCursor(of: Self.job)
        while let piece = try await cursor.next() { bytes += piece }
        return bytes
    }
}

extension ReceiveTime {
    static func known(_ milliseconds: UInt64) -> ReceiveTime {
        ReceiveTime(milliseconds: milliseconds, isSynchronised: true)
    }

    /// Of a laptop that does not know the time and so holds nothing.
    static let anyTime = ReceiveTime(milliseconds: 1_000_000, isSynchronised: false)
}
