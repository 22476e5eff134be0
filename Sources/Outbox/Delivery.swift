package import CRDT

/// A request on its way to the server.
package struct Delivery: Hashable, Sendable {
    /// What is asked for; its token is the key of its effect.
    package let request: MutationRequest
    /// The job whose state is to change; it is entered when it is new.
    package let job: JobID
    /// The last ordering id of that job's channel that the sender holds; nil when it wants nothing of it.
    package let knownChannel: UInt64?
    /// Who has signed the request, with the certificates that the sender knows; nil when it knows nobody of that name.
    package var author: JournalAuthor?

    /// `knownChannel` is 0 where nothing of the channel is held.
    package init(request: MutationRequest, job: JobID, knownChannel: UInt64? = nil, author: JournalAuthor? = nil) {
        self.request = request
        self.job = job
        self.knownChannel = knownChannel
        self.author = author
    }
}
