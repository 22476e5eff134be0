import Audit
import CRDT
import FoundationEssentials
import HTTPCoding
import Identity
import Inventory
import NIOCore
import Outbox
import Replication
import ServerChannel
import WireFormat

/// What libFuzzer calls with bytes that nobody has chosen (https://llvm.org/docs/LibFuzzer.html). Each decoder has to end in a value or
/// in an error; what it has taken has to come back as it was when it is encoded and decoded once more. `MUSTER_FUZZ` names the decoder.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    decoder(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}

private typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<Arguments>,
    _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// What SwiftPM makes the program's `main`; libFuzzer's own would be a second one.
@_cdecl("fuzz_main")
func fuzzMain(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt {
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments) { testOneInput($0, $1) }
}

private typealias Decoder = @Sendable ([UInt8]) -> Void

private let decoders: [String: Decoder] = [
    "certificates": { bytes in
        if let certificate = try? FleetCertificate(bytes) {
            must(certificate.bytes == bytes, "a certificate keeps its bytes")
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
]

private let decoder: Decoder = {
    let name = ProcessInfo.processInfo.environment["MUSTER_FUZZ"] ?? ""
    guard let found = decoders[name] else { fatalError("MUSTER_FUZZ is one of \(decoders.keys.sorted())") }
    return found
}()

private func again<Value: Equatable>(
    _ value: Value?, _ encode: (Value) throws -> [UInt8], _ decode: ([UInt8]) throws -> Value
) {
    guard let value else { return }
    guard let bytes = try? encode(value) else { fatalError("what was read cannot be written") }
    must((try? decode(bytes)) == value, "what was read comes back")
}

private func must(_ holds: Bool, _ rule: String) {
    guard !holds else { return }
    fatalError("it does not hold that \(rule)")
}
