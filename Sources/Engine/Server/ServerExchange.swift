package import CRDT
package import Outbox
package import ServerChannel

/// What the gateway and the outbox ask of the server: an operation of its API each. `ChannelClient` says what each answers.
package protocol ServerExchange: Sendable {
    func jobs(since cursor: String?) async -> ServerReply<JobChangeList>
    func holdings(of job: JobID) async -> ServerReply<JobHoldings>
    func assignments(of job: JobID) async -> ServerReply<[Assignment]>
    func bring(_ assignments: [Assignment]) async -> ServerReply<[Assignment]>
    func remove(_ job: JobID, _ removal: JobRemoval) async -> ServerReply<JobHoldings>
    func channel(of job: JobID, after sequence: UInt64) async -> ServerReply<SegmentList>
    func journal(from place: JournalPlace) async -> ServerReply<SegmentList>
    func upload(_ segments: [JournalSegment], to job: JobID) async -> ServerReply<JobHoldings>
    func deliver(_ deliveries: [Delivery]) async -> ServerReply<MutationDecisions>

    /// From now on requests go through new connections.
    ///
    /// - Parameter endingWhatIsUnderWay: requests without an answer are lost at once, not when their time is over.
    func connectAnew(endingWhatIsUnderWay: Bool)
}

extension ChannelClient: ServerExchange {}
