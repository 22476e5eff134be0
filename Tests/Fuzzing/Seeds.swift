import Audit
import Authorship
import CRDT
import Dispatch
import Foundation
import HTTPCoding
import Identity
import Inventory
import Outbox
import Replication
import ServerChannel
import Simulation
import Synchronization
import WireFormat

/// Inputs that decoders take, to begin with: a fleet of three keys, and what it signs. The keys are always the same, so that what was kept of
/// an earlier run is still signed by them.
enum Seeds {
    static func all(for decoder: String) -> [[UInt8]] {
        switch decoder {
        case "certificates": [leaf.bytes, issuer.bytes, root.certificate.bytes, newcomer.bytes, revocation.bytes]
        case "history": [history]
        case "server": assignments.map { [5] + $0 }
        case "bodies": bodies
        case "carried": carried
        case "texts":
            [leaf.pem, root.certificate.pem, request, key(3).pem, leaf.pem + issuer.pem, sealed]
                .map { Array($0.utf8) }
                + [
                    [9] + Array("v=11\u{9}id=abcd".utf8),
                    Array("# of a laptop\nMUSTER_NAME=\"anna\"\nMUSTER_SERVER=\n".utf8),
                ]
        default: []
        }
    }

    // MARK: A fleet

    private static let now: Int64 = 1_700_000_000_000
    private static let job = JobID("smith-12") ?? JobID(ItemID(7))

    private static func key(_ number: UInt64) -> DeviceKey { TestSigner(number).key }

    /// What cannot fail with these keys at this time.
    private static func sure<Value>(_ value: () throws -> Value) -> Value {
        do { return try value() } catch { fatalError("a seed cannot be made: \(error)") }
    }

    private static let root = sure { try CertificateAuthority.makeRoot(key(1), now: now) }
    private static let issuer = sure { try root.issue(.issuer, to: key(2).publicKey, as: .lead, now: now) }
    private static let leaf = sure {
        try CertificateAuthority(issuer, key: key(2), fleet: key(1).publicKey)
            .issue(.laptop, to: key(3).publicKey, as: .member, now: now)
    }
    private static let newcomer = sure { try CertificateAuthority.makeNewcomer(key(4)) }
    private static let revocation = sure {
        try Revocation(
            of: key(5).publicKey.device, by: issuer, key: key(2), fleet: key(1).publicKey, now: now)
    }
    private static let request = sure { try SigningRequest(key(3)).pem }
    private static let sealed = sure { try SealedRoot(key(1), root.certificate, passphrase: "a b c").text }

    /// Whom the fleet takes for a laptop that shows this certificate beside its issuer's.
    static func judged(_ bytes: [UInt8]) -> FleetMember? {
        guard let trust = FleetTrust(root: root.certificate) else { return nil }
        let (done, found) = (DispatchSemaphore(value: 0), Found())
        Task.detached {
            let member = try? await trust.judge(
                [bytes, issuer.bytes], now: TimeBounds(now, within: 0), revocations: RevocationLog())
            found.member.withLock { $0 = member }
            done.signal()
        }
        done.wait()
        return found.member.withLock { $0 }
    }

    private final class Found: Sendable {
        let member = Mutex<FleetMember?>(nil)
    }

    /// Nothing else was issued by these keys.
    static func isIssued(_ member: FleetMember) -> Bool {
        member.key == key(3).publicKey && member.role == .member && member.issuer == key(2).publicKey
    }

    // MARK: What it writes

    private static let run = sure { () -> JournalSegment in
        let author = TestAuthor(3, certificates: [leaf.bytes, issuer.bytes])
        let asked = author.asks(
            MutationRequest(
                token: MutationToken(1), lane: "state", after: nil, priority: 0, kind: "advanceState",
                payload: Array(#"{"state":"dispatched"}"#.utf8)), for: job)
        let stamp = Stamp(milliseconds: UInt64(now), counter: 0)
        let changes = [
            Change(item: ItemID(5), stamp: stamp, operations: [.set(field: "name", value: "Sofa", replaces: [])]),
            Change(item: .job, stamp: stamp, operations: [.request(asked)]),
        ]
        return try author.segment(changes.flatMap(ChangeCodec.encode), of: job)
    }

    private static let history = sure { () -> [UInt8] in
        var writer = HistoryWriter(
            job: job, fleet: root.certificate.bytes, time: Timestamp(milliseconds: now))
        return try writer.beginning() + writer.add(run) + writer.ending()
    }

    private static let assignments = sure { () -> [[UInt8]] in
        guard let trust = FleetTrust(root: root.certificate) else { return [] }
        let cutoff = Assignment.Word.Cutoff(revocation: revocation.bytes, heads: VersionVector())
        let words = [
            Assignment.Word(key(3).publicKey.device, isOn: true),
            Assignment.Word(key(5).publicKey.device, .cutoff(cutoff)),
        ]
        let said = trust.assignment(
            of: job, words, stamp: Stamp(milliseconds: UInt64(now), counter: 0), by: key(2),
            certificates: [issuer.bytes, root.certificate.bytes])
        return try [said].compactMap(\.self).map { try JSON.encode(AssignmentList([$0])) }
    }

    /// A file for the third key, and what it is made of: see `decoders`.
    private static let carried = sure { () -> [[UInt8]] in
        var sealer = try CarriedSealer(to: key(3).publicKey)
        let greeting = CarriedGreeting(signature: sealer.signature(by: key(3)), chain: [leaf.bytes, issuer.bytes]).bytes
        let hello = Hello(
            minimumVersion: ProtocolLimits.minimumVersion, maximumVersion: ProtocolLimits.version,
            device: key(3).publicKey.device, instance: 1, name: "anna")
        let words = try RecordedMessages.frame(of: .hello(hello))
        let file = try sealer.header + sealer.seal(greeting, isLast: false) + sealer.seal(words, isLast: true)
        return [[0] + file, [1] + greeting, [2] + words]
    }

    /// What the third key finds in such a file, up to where it cannot be read.
    static func opened(_ pieces: [[UInt8]]) -> [[UInt8]] {
        var (opener, found) = (CarriedOpener(key(3)), [[UInt8]]())
        do {
            for piece in pieces {
                opener.add(piece)
                while let next = try opener.next() { found.append(next) }
            }
        } catch {}
        return found
    }

    /// The first byte is the path's: see `decoders`.
    private static let bodies: [[UInt8]] = [
        #"{"mutations":[{"job":"smith-12","token":"00112233445566778899aabbccddeeff","lane":"state","after":null,"priority":0,"#
            + #""kind":"advanceState","payload":"{}","key":"\#(String(repeating: "ab", count: 32))","nonce":"\#(String(repeating: "0", count: 32))","signature":"\#(String(repeating: "A", count: 86))=="}]}"#,
        #"{"segments":[{"replica":"00112233445566778899aabbccddeeff","first":1,"last":2,"digest":"\#(String(repeating: "0", count: 64))","#
            + #""changes":"AAAA","signature":""}],"authors":[{"key":"\#(String(repeating: "ab", count: 32))","certificates":[]}]}"#,
        #"{"name":"Smith","entries":[{"replica":"00112233445566778899aabbccddeeff","sequence":1,"digest":"\#(String(repeating: "0", count: 64))"}]}"#,
        #"{"revocations":["AAAA"]}"#, #"{"address":"10.0.0.1:7473"}"#, #"{"admits":true}"#, #"{"state":"dispatched"}"#,
        #"{"assign":["anna"],"unassign":[]}"#, #"{"name":"Ann","isNew":true}"#,
        #"{"name":"Smith","kind":"pickup","id":"smith-12","laptops":["anna"]}"#,
        #"{"fields":{"name":"Sofa","quantity":"2"}}"#,
        #"{"certificates":"","isRoot":false}"#, #"{"role":"member"}"#,
        #"{"items":[{"fields":{"name":"Sofa"}}]}"#,
        #"{"code":"7K3M-QX0T-94WD-BZES"}"#, #"{"lane":"state"}"#, #"{"changes":["all"]}"#, #"{"text":"scratch"}"#,
        #"{"items":["1"],"isConfirmed":true}"#, #"{"device":"abcd"}"#, #"{"field":"name","value":"Sofa"}"#,
        #"{"request":"","role":"member"}"#, #"{"name":"J. Smith","digest":""}"#, #"{"cards":[]}"#, #"{"to":"abcd"}"#,
        #"{"name":"Jones"}"#,
    ].enumerated().map { [UInt8($0.offset)] + Array($0.element.utf8) }
}
