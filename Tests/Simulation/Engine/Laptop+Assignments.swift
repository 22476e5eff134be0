import CRDT
import Engine
import Storage

/// What a lead wants of its laptop.
extension Laptop {
    var device: DeviceID { engine.store.identity.device }

    /// Says who is on a job.
    ///
    /// - Returns: what was said, acknowledged; nil otherwise.
    func assign(_ words: [Assignment.Word], to job: JobID) async throws -> Assignment? {
        let engine = engine
        guard let statement = try await engine.assignments?.assign(words, to: job, by: signer) else { return nil }
        await engine.replicator.assigned([job])
        await engine.gateway.assigned()
        return isAlive(engine) ? statement : nil
    }
}
