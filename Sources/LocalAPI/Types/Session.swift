package import HTTPCoding

/// A person at a laptop: what `muster session` shows, and what stands beside the changes that follow.
package struct Session: Codable, Hashable, Sendable {
    /// As it stands on the crew's list, 1 to 64 bytes.
    package var name: String
    /// In corrected time; RFC 3339 in UTC.
    package var since: Timestamp
    /// The wall clock minus corrected time when it began; null when nobody could say.
    @Nullable package var driftMilliseconds: Double?
    /// How far corrected time may have been off then, either way; null without a server behind it.
    @Nullable package var uncertaintyMilliseconds: Double?

    /// Whole milliseconds, as journals have them.
    package init(
        name: String, since: Timestamp, driftMilliseconds: Double? = nil, uncertaintyMilliseconds: Double? = nil
    ) {
        self.name = name
        self.since = since
        self.driftMilliseconds = driftMilliseconds
        self.uncertaintyMilliseconds = uncertaintyMilliseconds
    }
}

/// `GET /v1/session`: who is at this laptop as the user of the machine who asks.
package struct SessionReport: Codable, Hashable, Sendable {
    /// The number of that Unix user, as the kernel says.
    package var user: Int
    /// Null while nobody is.
    @Nullable package var session: Session?
    /// After a session has begun or ended, the one before it.
    @Nullable package var former: Session?

    /// `former` is for what has changed.
    package init(user: Int, session: Session?, former: Session? = nil) {
        self.user = user
        self.session = session
        self.former = former
    }
}

/// `POST /v1/session`.
package struct BeginSessionRequest: Codable, Hashable, Sendable, ClosedBody {
    /// A name of the crew's list; what differs from one in case or spaces only is that one.
    package var name: String
    /// Whether it is somebody whom the list does not have.
    package var isNew: Bool?

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case name, isNew }

    /// A name that the list has not is refused with 422 `invalidValue`, unless it is new.
    package init(name: String, isNew: Bool? = nil) {
        self.name = name
        self.isNew = isNew
    }
}

/// `GET /v1/crew`: who can be at a laptop, and who is at this one.
package struct CrewReport: Codable, Hashable, Sendable {
    /// The crew's list, ascending by their bytes.
    package var names: [String]
    /// Ascending by user.
    package var sessions: [UserSession]

    /// Names that were taken here, or that a job here has.
    package init(names: [String], sessions: [UserSession]) {
        self.names = names
        self.sessions = sessions
    }
}

/// The session of one user of the machine.
package struct UserSession: Codable, Hashable, Sendable {
    /// The number of the Unix user.
    package var user: Int
    /// Who is there.
    package var session: Session

    /// Of a session that goes on.
    package init(user: Int, session: Session) {
        self.user = user
        self.session = session
    }
}
