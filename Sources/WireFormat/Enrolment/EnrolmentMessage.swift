/// What a laptop and one that may let it into the fleet say to each other (`muster/enrolment.proto`).
package enum EnrolmentMessage: Hashable, Sendable {
    /// A newcomer means this invitation; people call it `name`.
    case ask(invitation: String, name: String)
    /// What the inviter's invitation is for: the root's certificate in DER, a role, and what people call the inviter.
    case terms(root: [UInt8], role: String, name: String)
    /// Shows that the newcomer knows the code.
    case newcomerProof([UInt8])
    /// Shows that the inviter does; its person is asked now.
    case inviterProof([UInt8])
    /// In DER: the laptop's own, its issuer's, the root's.
    case certificates([[UInt8]])
    /// The end.
    case refusal(EnrolmentRefusal)
    /// A laptop whose certificate ends soon, or has ended, asks for a new one.
    case renewal

    /// A frame's payload, in bytes: three certificates have room in it many times.
    package static let frameBytes = 16 << 10
    /// Of HMAC-SHA-256.
    static let proofBytes = 32
    /// More than any name of an invitation, and any role, has.
    static let wordBytes = 16
    static let certificateCount = 3
}

/// Why somebody lets nobody in. It is nobody's sentence, because anybody on the network can send one.
package enum EnrolmentRefusal: Hashable, Sendable {
    /// The invitation that was asked for is not this laptop's.
    case elsewhere
    /// Too many ask just now.
    case busy
    case wrongCode(triesLeft: Int)
    case expired
    case triesUsedUp
    case used
    case withdrawn
    /// No new certificate for this laptop, or not from this one.
    case notRenewable
    /// The invitation is for a server, and who asks is a laptop; or the other way about.
    case otherKind
    /// Who asks was shut out of the fleet.
    case revoked
    /// Of a later version.
    case unknown
}
