package import HTTPCoding

/// Who is on a job, as `muster job assign` and `muster job roster` show it.
package struct JobAssignment: Codable, Hashable, Sendable {
    /// A laptop that was put on the job, or taken off it.
    package struct Laptop: Codable, Hashable, Sendable {
        /// 64 hexadecimal digits.
        package var deviceID: String
        /// What people call it, if known.
        @Nullable package var name: String?
        /// Whether it is on the job.
        package var isOn: Bool
        /// Whether it is this laptop.
        package var isOwn: Bool
        /// When that was said, by the clock of whoever said it.
        package var saidAt: Timestamp
        /// Which laptop has said it: its name, or the short form of its id.
        package var saidBy: String

        /// Takes everything as it is shown.
        package init(
            deviceID: String, name: String?, isOn: Bool, isOwn: Bool, saidAt: Timestamp, saidBy: String
        ) {
            self.deviceID = deviceID
            self.name = name
            self.isOn = isOn
            self.isOwn = isOwn
            self.saidAt = saidAt
            self.saidBy = saidBy
        }
    }

    /// Nobody was ever put on the job: every laptop of the fleet receives it.
    package var isEverybodys: Bool
    /// Those of which that was said, by name; those that are off the job, too.
    package var laptops: [Laptop]

    /// Takes the laptops in the order in which they are shown.
    package init(isEverybodys: Bool, laptops: [Laptop]) {
        self.isEverybodys = isEverybodys
        self.laptops = laptops
    }
}

/// What is to be said of who is on a job. Laptops by name, id, or a unique beginning of one.
package struct AssignmentRequest: Codable, Hashable, Sendable, ClosedBody {
    /// To be put on the job.
    package var assign: [String]?
    /// To be taken off it.
    package var unassign: [String]?

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case assign, unassign }

    /// Takes what people typed.
    package init(assign: [String]? = nil, unassign: [String]? = nil) {
        self.assign = assign
        self.unassign = unassign
    }
}

/// Whether a laptop receives a job.
package enum JobMembership: String, Codable, Hashable, Sendable {
    /// Every laptop does: nobody was put on it.
    case everybody
    /// This laptop is on it.
    case on
    /// This laptop is not: it gets nothing new of it.
    case off
    /// This laptop is not on it, and receives it as the office's.
    case office
}
