/// A replica that takes part in a job, as `muster job roster` lists it.
package struct RosterMember: Codable, Hashable, Sendable {
    /// 32 hexadecimal digits.
    package var replicaID: String
    /// Its laptop, if known.
    @Nullable package var name: String?
    /// Whether it is this laptop's.
    package var isOwn: Bool
    /// Its first change in the job.
    @Nullable package var since: Timestamp?
    /// Its latest change in the job.
    @Nullable package var lastSeenAt: Timestamp?
    /// How many transforms of the job it is not known to hold; 0 when it holds all.
    package var behind: Int
    /// Its changes that came too late and wait for a person.
    package var late: Int
    /// Whether a person has taken it off the roster.
    package var isExpelled: Bool

    package init(
        replicaID: String, name: String? = nil, isOwn: Bool = false, since: Timestamp? = nil,
        lastSeenAt: Timestamp? = nil, behind: Int, late: Int = 0, isExpelled: Bool = false
    ) {
        self.replicaID = replicaID
        self.name = name
        self.isOwn = isOwn
        self.since = since
        self.lastSeenAt = lastSeenAt
        self.behind = behind
        self.late = late
        self.isExpelled = isExpelled
    }
}
