import CRDT
import Simulation
import Storage
import Testing

extension TestAuthor {
    /// What it writes first: one thing's names, one after the other.
    func run(_ names: [String]) throws -> JournalSegment {
        let bytes = names.flatMap { name in
            ChangeCodec.encode(
                Change(
                    item: ItemID(5), stamp: Stamp(milliseconds: 1_000, counter: 0),
                    operations: [.set(field: "name", value: name, replaces: [])]))
        }
        return try segment(bytes, of: Store.job)
    }
}

extension Place {
    /// The rest of a run, as one sends it who holds it.
    func rest(of run: JournalSegment, from sequence: UInt64) async throws -> JournalSegment {
        let holder = try await open("holder of \(run.head.digest)")
        _ = try await holder.ingest(run, job: Store.job, now: .anyTime)
        return try #require(
            try await holder.segment(of: run.replica, job: Store.job, from: sequence, maximumBytes: .max))
    }
}
