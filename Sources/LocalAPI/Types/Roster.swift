package import HTTPCoding

/// A replica that takes part in a job, as `muster job roster` lists it.
package struct RosterMember: Codable, Hashable, Sendable {
    /// 32 hexadecimal digits.
    package var replicaID: String
    /// Its laptop, if known.
    @Nullable package var name: String?
    /// Who was last said to be at it; null when nobody is, or nobody says so.
    @Nullable package var person: String?
    /// Whether it is this laptop's.
    package var isOwn: Bool
    /// Its first change in the job; null when that went with a removed job.
    @Nullable package var since: Timestamp?
    /// Its latest change in the job.
    @Nullable package var lastSeenAt: Timestamp?
    /// Whether its laptop is connected.
    package var isConnected: Bool
    /// When its laptop was last connected, now if it is; null when it never was, or several laptops have its name.
    @Nullable package var heardAt: Timestamp?
    /// How many transforms of the job it lacks, or lacked when it was last heard of; 0 when it holds all; null when
    /// that is not known.
    @Nullable package var behind: Int?

    /// This device's replicas, former ones too, count as connected, and lack nothing.
    package init(
        replicaID: String, name: String? = nil, person: String? = nil, isOwn: Bool = false, since: Timestamp? = nil,
        lastSeenAt: Timestamp? = nil, isConnected: Bool = false, heardAt: Timestamp? = nil, behind: Int? = nil
    ) {
        self.replicaID = replicaID
        self.name = name
        self.person = person
        self.isOwn = isOwn
        self.since = since
        self.lastSeenAt = lastSeenAt
        self.isConnected = isConnected
        self.heardAt = heardAt
        self.behind = behind
    }
}
