import FoundationEssentials
package import NIOCore
import Replication
import SwiftProtobuf

/// Frames of an enrolment: the payload's length, four bytes big-endian, and the payload.
package enum EnrolmentCodec {
    /// - Throws: `WireFormatError` for a message that no peer would accept.
    package static func encode(_ message: EnrolmentMessage) throws -> ByteBuffer {
        let frame: FrameBytes = try WireEnrolmentFrame(message).serializedBytes()
        guard frame.count <= EnrolmentMessage.frameBytes else {
            throw WireFormatError.oversizedFrame(bytes: frame.count, limit: EnrolmentMessage.frameBytes)
        }
        return frame.buffer
    }

    /// Takes the message of the next frame off the buffer; nil until the whole frame is there.
    ///
    /// - Throws: `WireFormatError`; then the connection is of no further use.
    package static func decode(_ buffer: inout ByteBuffer) throws -> EnrolmentMessage? {
        guard let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) else { return nil }
        guard length <= EnrolmentMessage.frameBytes else {
            throw WireFormatError.oversizedFrame(bytes: Int(length), limit: EnrolmentMessage.frameBytes)
        }
        let start = buffer.readerIndex + ProtocolLimits.frameHeaderBytes
        guard let payload = buffer.getSlice(at: start, length: Int(length)) else { return nil }
        let message = try message(in: payload)
        buffer.moveReaderIndex(to: start + Int(length))
        return message
    }

    private static func message(in payload: ByteBuffer) throws -> EnrolmentMessage {
        var options = BinaryDecodingOptions()
        options.discardUnknownFields = true
        options.messageDepthLimit = 4
        guard let frame = try? WireEnrolmentFrame(serializedBytes: payload.readableBytesSpan, options: options) else {
            throw WireFormatError.malformedPayload
        }
        return try frame.message()
    }
}

extension WireEnrolmentFrame {
    fileprivate init(_ message: EnrolmentMessage) throws {
        self.init()
        kind =
            switch message {
            case .ask(let invitation, let name):
                .ask(
                    .with {
                        $0.invitation = invitation
                        $0.name = name
                    })
            case .terms(let root, let role, let name):
                .terms(
                    .with {
                        $0.root = Data(root)
                        $0.role = role
                        $0.name = name
                    })
            case .newcomerProof(let proof): .newcomerProof(Data(proof))
            case .inviterProof(let proof): .inviterProof(Data(proof))
            case .certificates(let certificates):
                .certificates(.with { $0.certificates = certificates.map { Data($0) } })
            case .refusal(let refusal): .refusal(WireRefusal(refusal))
            case .renewal: .renewal(true)
            }
    }

    fileprivate func message() throws -> EnrolmentMessage {
        switch kind {
        case .ask(let ask):
            .ask(
                invitation: try ask.invitation.checked(.invitation, limit: EnrolmentMessage.wordBytes),
                name: try ask.name.checked(.name))
        case .terms(let terms):
            .terms(
                root: Array(terms.root), role: try terms.role.checked(.role, limit: EnrolmentMessage.wordBytes),
                name: try terms.name.checked(.name))
        case .newcomerProof(let proof): .newcomerProof(try proof.checkedProof())
        case .inviterProof(let proof): .inviterProof(try proof.checkedProof())
        case .certificates(let list): .certificates(try list.checked())
        case .refusal(let refusal): .refusal(refusal.refusal)
        case .renewal: .renewal
        case nil: throw WireFormatError.unknownMessage
        }
    }
}

extension Data {
    fileprivate func checkedProof() throws -> [UInt8] {
        guard count == EnrolmentMessage.proofBytes else {
            throw WireFormatError.identifierLength(.proof, bytes: count)
        }
        return Array(self)
    }
}

extension WireCertificates {
    fileprivate func checked() throws -> [[UInt8]] {
        guard certificates.count == EnrolmentMessage.certificateCount else {
            throw WireFormatError.certificateCount(certificates.count)
        }
        return certificates.map { Array($0) }
    }
}

extension WireRefusal {
    fileprivate init(_ refusal: EnrolmentRefusal) {
        self.init()
        switch refusal {
        case .elsewhere: reason = .elsewhere
        case .busy: reason = .busy
        case .wrongCode(let left):
            reason = .wrongCode
            triesLeft = UInt32(clamping: left)
        case .expired: reason = .expired
        case .triesUsedUp: reason = .triesUsedUp
        case .used: reason = .used
        case .withdrawn: reason = .withdrawn
        case .notRenewable: reason = .notRenewable
        case .otherKind: reason = .otherKind
        case .revoked: reason = .revoked
        case .unknown: reason = .unknown
        }
    }

    fileprivate var refusal: EnrolmentRefusal {
        switch reason {
        case .elsewhere: .elsewhere
        case .busy: .busy
        case .wrongCode: .wrongCode(triesLeft: Int(clamping: triesLeft))
        case .expired: .expired
        case .triesUsedUp: .triesUsedUp
        case .used: .used
        case .withdrawn: .withdrawn
        case .notRenewable: .notRenewable
        case .otherKind: .otherKind
        case .revoked: .revoked
        case .unknown, .UNRECOGNIZED: .unknown
        }
    }
}
