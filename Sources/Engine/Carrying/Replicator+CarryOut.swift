package import CRDT
import Replication
import Storage

/// Work goes out in a file (docs/carry.md).
extension Replicator {
    /// What a link would tell a laptop that holds nothing. Nothing is read before this laptop's work may be shown (rule R5).
    ///
    /// - Parameters:
    ///   - only: of these jobs; nil for all.
    /// - Throws: `StoreError`.
    package func carryOut(to access: JobAccess, only: Set<JobID>?) async throws -> CarriedOut {
        carriers += 1
        let exposure = CarryExposure(self)
        try await store.beginExposure()
        await untilStepIsTold()
        await tellCommitted()
        let jobs = mesh.carriedJobs(for: access).filter { only?.contains($0.job) ?? true }
        noteRevocations()
        let first = [.hello(mesh.hello)] + Message.revocations(of: fleet?.revocationEntries ?? [])
        return CarriedOut(store, exposure, first: first, jobs: jobs)
    }

    func endCarrying() {
        carriers -= 1
        endExposureIfUnused()
    }
}
