package import HTTPCoding

/// A wish to let one laptop in, or the server.
package struct InvitationRequest: Codable, Hashable, Sendable, ClosedBody {
    /// What it may do: `office`, `lead`, `member` or `reader`; `server` for the company's server.
    package var role: String

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case role }

    package init(role: String) {
        self.role = role
    }
}

/// An invitation as its inviter sees it.
package struct InvitationStatus: Codable, Hashable, Sendable {
    /// How far it has come.
    package enum State: String, Codable, CaseIterable, Sendable {
        /// Nobody has come with the code.
        case unused
        /// A laptop has proved that it knows the code, and waits for a yes.
        case waiting
        /// It was let in.
        case admitted
        /// Nobody can join by it any more.
        case ended
    }

    /// The first four characters of its code.
    package var name: String
    /// What is read to whoever sets the newcomer up; only in the answer that opens the invitation.
    @Nullable package var code: String?
    /// As in `InvitationRequest`.
    package var role: String
    package var state: State
    /// How long it is open still.
    package var secondsLeft: Int
    /// Who waits, or was let in.
    @Nullable package var newcomer: Newcomer?
    /// Why it has ended: a sentence for people.
    @Nullable package var reason: String?

    /// An unused one, unless the rest is set.
    package init(name: String, role: String, state: State = .unused, secondsLeft: Int) {
        self.name = name
        self.role = role
        self.state = state
        self.secondsLeft = secondsLeft
    }
}

/// A laptop that has proved that it knows an invitation's code.
package struct Newcomer: Codable, Hashable, Sendable {
    /// 64 hexadecimal digits: SHA-256 of its public key.
    package var deviceID: String
    /// What it calls itself.
    package var name: String
    /// The beginning of `deviceID` as words that two people compare.
    package var keyWords: String
    /// From where it came.
    package var address: String

    package init(deviceID: String, name: String, keyWords: String, address: String) {
        self.deviceID = deviceID
        self.name = name
        self.keyWords = keyWords
        self.address = address
    }
}

/// Says yes to a newcomer.
package struct AdmissionRequest: Codable, Hashable, Sendable, ClosedBody {
    /// Of the newcomer whose key words were compared.
    package var deviceID: String

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case deviceID }

    package init(deviceID: String) {
        self.deviceID = deviceID
    }
}

/// A wish to join by a code.
package struct JoinRequest: Codable, Hashable, Sendable, ClosedBody {
    /// As the inviter reads it: 16 characters, hyphens and spaces anywhere, capitals or not.
    package var code: String

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case code }

    package init(code: String) {
        self.code = code
    }
}

/// How far joining has come.
package struct JoinStatus: Codable, Hashable, Sendable {
    /// How far it has come.
    package enum State: String, Codable, CaseIterable, Sendable {
        /// Nobody has asked this laptop to join.
        case idle
        /// It looks for the laptop that has the invitation.
        case searching
        /// It was found, and its person compares the key words.
        case waiting
        case joined
        case failed
    }

    package var state: State
    /// This laptop's, to be compared with what the inviter sees.
    package var keyWords: String
    /// What the inviter calls itself.
    @Nullable package var inviter: String?
    /// Why it failed: a sentence for people.
    @Nullable package var reason: String?

    /// Without an inviter and without a reason.
    package init(state: State, keyWords: String) {
        self.state = state
        self.keyWords = keyWords
    }
}
