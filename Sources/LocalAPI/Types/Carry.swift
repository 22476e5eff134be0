package import HTTPCoding

/// By what other laptops can carry journals to this one: nothing of it is secret.
package struct CarryCard: Codable, Hashable, Sendable {
    /// 64 hexadecimal digits.
    package var deviceID: String
    /// The host's name, for people.
    package var name: String
    /// The laptop's own, its issuer's, and what a server has prolonged them by, in PEM.
    package var certificates: String

    package init(deviceID: String, name: String, certificates: String) {
        self.deviceID = deviceID
        self.name = name
        self.certificates = certificates
    }
}

/// `POST /v1/carry/recipients`: who of these can be carried to.
package struct CarryRecipientsRequest: Codable, Hashable, Sendable, ClosedBody {
    /// More are not looked at.
    package static let mostCards = 256

    /// Ids, unique beginnings of them, or names; all that are known where it is left out.
    package var names: [String]?
    /// `CarryCard.certificates` of others.
    package var cards: [String]?

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case names, cards }

    package init(names: [String]? = nil, cards: [String]? = nil) {
        self.names = names
        self.cards = cards
    }
}

/// A laptop to which journals can be carried.
package struct CarryRecipient: Codable, Hashable, Sendable {
    /// 64 hexadecimal digits.
    package var deviceID: String
    /// What people call it; null where it has not said so.
    @Nullable package var name: String?

    package init(deviceID: String, name: String?) {
        self.deviceID = deviceID
        self.name = name
    }
}

/// `POST /v1/carry/out`: a file for one laptop.
package struct CarryOutRequest: Codable, Hashable, Sendable, ClosedBody {
    /// Its whole id.
    package var to: String
    /// `CarryCard.certificates`, where its own is among them.
    package var cards: [String]?
    /// Of these jobs; of all where it is left out.
    package var jobs: [String]?

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case to, cards, jobs }

    package init(to: String, cards: [String]? = nil, jobs: [String]? = nil) {
        self.to = to
        self.cards = cards
        self.jobs = jobs
    }
}

/// What came in by a file.
package struct CarryReport: Codable, Hashable, Sendable {
    /// The laptop's that has written it: 64 hexadecimal digits.
    package var deviceID: String
    /// What people call that laptop.
    package var name: String
    /// It was read to its end.
    package var isWhole: Bool
    /// Why it was not, in a sentence; what stood before is taken.
    @Nullable package var problem: String?
    /// That lies with this laptop, and not with the file.
    package var isOwnProblem: Bool
    /// New words about who is in the fleet or on a job.
    package var words: Int
    /// Transforms that were not here before.
    package var changes: Int
    /// Those in which something was new or refused.
    package var jobs: [CarriedJobReport]

    package init(
        deviceID: String, name: String, isWhole: Bool, problem: String?, isOwnProblem: Bool, words: Int, changes: Int,
        jobs: [CarriedJobReport]
    ) {
        self.deviceID = deviceID
        self.name = name
        self.isWhole = isWhole
        self.problem = problem
        self.isOwnProblem = isOwnProblem
        self.words = words
        self.changes = changes
        self.jobs = jobs
    }
}

/// What came in of one job.
package struct CarriedJobReport: Codable, Hashable, Sendable {
    /// Its id.
    package var job: String
    /// What people call it; null where that is not known.
    @Nullable package var name: String?
    /// Transforms that were not here before.
    package var changes: Int
    /// It has ended by the file.
    package var hasEnded: Bool
    /// Whose work that is, by name where one is known.
    package var laptops: [String]
    /// What was not taken, and why, in sentences.
    package var refused: [String]

    package init(
        job: String, name: String?, changes: Int, hasEnded: Bool, laptops: [String], refused: [String]
    ) {
        self.job = job
        self.name = name
        self.changes = changes
        self.hasEnded = hasEnded
        self.laptops = laptops
        self.refused = refused
    }
}
