package import CRDT

/// A request on its way to the server, or there.
package struct Delivery: Hashable, Sendable {
    /// What is asked for; its token is the key of its effect.
    package let request: MutationRequest
    /// The job whose state is to change; the server enters it when it is new.
    package let job: JobID
    /// The last ordering id of that job's channel that the sender holds, 0 where it holds nothing; nil when it wants nothing of
    /// it.
    package let knownChannel: UInt64?

    /// Takes the parts as they are.
    package init(request: MutationRequest, job: JobID, knownChannel: UInt64? = nil) {
        self.request = request
        self.job = job
        self.knownChannel = knownChannel
    }
}
