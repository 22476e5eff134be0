import Audit
import CRDT
import Dispatch
import Foundation
import HTTPCoding
import HTTPTypes
import Identity
import Inventory
import NIOCore
import Outbox
import Replication
import ServerChannel
import Synchronization
import WireFormat

@testable import ChannelServer
@testable import Discovery
@testable import LocalAPI
@testable import Systemd

typealias Decoder = @Sendable ([UInt8]) -> Void

let decoders: [String: Decoder] = [
    "bodies": { bytes in
        // The first byte says which path they come to.
        guard let first = bytes.first else { return }
        bodies[Int(first) % bodies.count](Array(bytes.dropFirst()))
    },
    "carried": { bytes in
        // The first byte says what of a carried file it is.
        let content = Array(bytes.dropFirst())
        switch bytes.first.map({ $0 % 3 }) {
        case 0:
            must(Seeds.opened([content]) == Seeds.opened(content.map { [$0] }), "the pieces do not matter")
        case 1:
            guard let greeting = CarriedGreeting(content) else { return }
            must(greeting.bytes == content, "who has written it keeps its bytes")
        case 2:
            let (whole, pieces) = (recorded([content]), recorded(content.map { [$0] }))
            must(whole == pieces, "the pieces do not matter")
        default: break
        }
    },
    "certificates": { bytes in
        if let certificate = try? FleetCertificate(bytes) {
            must(certificate.bytes == bytes, "a certificate keeps its bytes")
            _ = FleetTrust(root: certificate)
            // Whatever its extensions say, only what was issued is let in, and for what it was issued.
            if let member = Seeds.judged(bytes) {
                must(Seeds.isIssued(member), "\(member.role) is let in by what nobody has issued")
            }
        }
        if let revocation = try? Revocation(bytes) { must(revocation.bytes == bytes, "a revocation keeps its bytes") }
    },
    "changes": { bytes in
        guard let changes = try? ChangeCodec.decodeAll(bytes) else { return }
        let again = changes.flatMap(ChangeCodec.encode)
        must((try? ChangeCodec.decodeAll(again)) == changes, "changes come back")
    },
    "codes": { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        if let code = try? InvitationCode(text) {
            must((try? InvitationCode(code.description)) == code, "a code comes back")
        }
        _ = try? RecoveryCode(text)
        _ = JobID(text)
        _ = Timestamp(text)
        _ = PercentCoding.decode(text)
    },
    "csv": { bytes in
        // Whole, and byte by byte, which must not matter.
        var (whole, pieces) = (CSVParser(), CSVParser())
        let records = whole.feed(bytes) + whole.finish()
        let others = bytes.flatMap { pieces.feed([$0]) } + pieces.finish()
        must(records == others, "the pieces do not matter")
    },
    "enrolment": { bytes in
        var buffer = ByteBuffer(bytes: bytes)
        while let message = try? EnrolmentCodec.decode(&buffer) {
            guard var again = try? EnrolmentCodec.encode(message) else {
                fatalError("an enrolment cannot be encoded again")
            }
            must((try? EnrolmentCodec.decode(&again)) == message, "an enrolment comes back")
        }
    },
    "frames": { bytes in
        var buffer = ByteBuffer(bytes: bytes)
        var decoder = FrameDecoder(checksGreeting: false)
        while let message = try? decoder.decode(buffer: &buffer) {
            guard var again = try? FrameEncoder.encode(message) else { fatalError("a message cannot be encoded again") }
            var other = FrameDecoder(checksGreeting: false)
            must((try? other.decode(buffer: &again)) == message, "a message comes back")
        }
    },
    "history": { bytes in
        var audit = HistoryAudit()
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            guard (try? audit.add(Array(line))) != nil else { return }
        }
    },
    "server": { bytes in
        // The first byte says which message it is.
        let content = Array(bytes.dropFirst())
        switch bytes.first.map({ $0 % 6 }) {
        case 0: again(try? SegmentList(protobuf: content), { try $0.protobuf() }, { try SegmentList(protobuf: $0) })
        case 1: again(try? [Delivery](protobuf: content), { try $0.protobuf() }, { try [Delivery](protobuf: $0) })
        case 2: again(try? JobRemoval(protobuf: content), { try $0.protobuf() }, { try JobRemoval(protobuf: $0) })
        case 3: again(try? JobHoldings(protobuf: content), { try $0.protobuf() }, { try JobHoldings(protobuf: $0) })
        case 4: _ = try? JSON.decode(ChannelProblem.self, from: content)
        case 5:
            guard let said = try? JSON.decode(AssignmentList.self, from: content).statements() else { return }
            must((try? AssignmentList(said).statements()) == said, "assignments come back")
        default: break
        }
    },
    "texts": { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        if let chain = try? FleetCertificate.allBytes(inPEM: text) { _ = chain.map { try? FleetCertificate($0) } }
        _ = try? Revocation.all(inPEM: text)
        _ = try? SigningRequest.key(inPEM: text)
        _ = try? SealedRoot(text: text)
        _ = DeviceKey(pem: text)
        var headers = HTTPFields()
        if let certificate = HTTPField.Name(ProxyHeaders.certificate) { headers[certificate] = text }
        if let issuer = HTTPField.Name(ChannelHeader.issuer) { headers[issuer] = text }
        _ = ProxyHeaders.chain(in: headers)
        if let file = try? EnvironmentFile(text: text, name: "it") {
            let lines = file.variables.map { "\($0.key)='\($0.value)'\n" }.joined()
            must((try? EnvironmentFile(text: lines, name: "again"))?.variables == file.variables, "settings come back")
        }
        let record = TXTRecord(bytes: bytes)
        let again = TXTRecord(bytes: record.bytes)
        must(again.entries.map(\.key) == record.entries.map(\.key), "the keys of a record come back")
    },
]

/// What HTTP takes in JSON, at the server and at the local API.
private let bodies: [Decoder] = [
    { _ = try? MutationsDocument.read($0) },
    { _ = try? SegmentsDocument.read($0) },
    { _ = try? RemovalDocument.read($0) },
    { _ = try? JSON.decode(RevocationList.self, from: $0).entries() },
    body(AddPeerRequest.self), body(AdmissionRequest.self), body(AdvanceRequest.self),
    body(AssignmentRequest.self), body(BeginSessionRequest.self), body(CreateJobRequest.self), body(FieldsRequest.self),
    body(FleetCertificates.self), body(InvitationRequest.self), body(ItemBatch.self), body(JoinRequest.self),
    body(LaneRequest.self), body(LateDecision.self), body(NoteRequest.self), body(RemovalRequest.self),
    body(RevocationRequest.self), body(SettleRequest.self), body(SignCertificateRequest.self),
    body(SignOffRequest.self), body(CarryRecipientsRequest.self), body(CarryOutRequest.self),
    body(RenameJobRequest.self),
]

/// The messages of a carried file, up to what is none.
private func recorded(_ pieces: [[UInt8]]) -> [Replication.Message] {
    var (messages, found) = (RecordedMessages(), [Replication.Message]())
    do {
        for piece in pieces {
            messages.add(piece)
            while let message = try messages.next() { found.append(message) }
        }
    } catch {}
    return found
}

private func body<Value: Decodable & SendableMetatype>(_ type: Value.Type) -> Decoder {
    { _ = try? JSON.decode(Value.self, from: $0) }
}

private func again<Value: Equatable>(
    _ value: Value?, _ encode: (Value) throws -> [UInt8], _ decode: ([UInt8]) throws -> Value
) {
    guard let value else { return }
    guard let bytes = try? encode(value) else { fatalError("what was read cannot be written") }
    must((try? decode(bytes)) == value, "what was read comes back")
}

private func must(_ holds: Bool, _ rule: @autoclosure () -> String) {
    guard !holds else { return }
    fatalError("it does not hold that \(rule())")
}
