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
    /// The end, with a sentence for people. Elsewhere the same code may still be good.
    case refusal(String, isElsewhere: Bool)
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
