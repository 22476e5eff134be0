import CRDT
import Foundation
import HTTPCoding

/// A laptop of the fleet, as this one knows it.
struct KnownDevice: Codable, Hashable, Sendable {
    /// 64 hexadecimal digits.
    let device: String
    /// What people call it; nil until it has said so.
    var name: String?
    /// What it may do.
    var role: String
    /// Whoever issued its certificate: 64 hexadecimal digits.
    var issuer: String
    /// When its certificate runs out, in milliseconds since 1970; nil when only its peer's word is known.
    var validUntil: Int64?
    /// The newest time that its issuers have signed as certainly past, in milliseconds since 1970.
    var signedAfter: Int64?
    /// What it showed when it was let in last, in DER; nil of one that was not since this is kept.
    var chain: [Data]?
}
