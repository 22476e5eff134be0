package import CRDT
import Crypto

extension FleetTrust {
    private static let purpose = "muster assignment 1"

    /// Says who is on a job, in this laptop's name.
    ///
    /// - Returns: nil for no words, too many, or two about one laptop.
    package func assignment(
        of job: JobID, _ words: [Assignment.Word], stamp: Stamp, by key: DeviceKey, certificates: [[UInt8]]
    ) -> Assignment? {
        Assignment(
            of: job, words, stamp: stamp, signer: key.publicKey.device, certificates: certificates
        ) { key.signature(over: signed($0)) }
    }

    /// Whether somebody of this fleet has signed it who may. When the certificate holds is not asked, and what became of its owner
    /// neither: a job that a lead has narrowed must not become everybody's when the lead's laptop is lost.
    package func allows(_ assignment: Assignment, now: TimeBounds) async -> Bool {
        guard let first = assignment.certificates.first, let shown = try? FleetCertificate(first),
            let signer = await letIn(shown.key.bytes, by: assignment.certificates, now: now), signer.role.mayAssign,
            signer.key.device == assignment.signer,
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: signer.key.bytes)
        else { return false }
        guard key.isValidSignature(assignment.signature, for: signed(assignment.content)) else { return false }
        for word in assignment.words {
            guard case .cutoff(let cutoff) = word.kind else { continue }
            guard await allows(cutoff, of: word.device, in: assignment) else { return false }
        }
        return true
    }

    /// How far a laptop's journals count says nobody who was not told by an issuer that it was revoked, no laptop of itself, and nobody
    /// before who has revoked it.
    private func allows(
        _ cutoff: Assignment.Word.Cutoff, of device: DeviceID, in assignment: Assignment
    ) async -> Bool {
        guard let revocation = try? Revocation(cutoff.revocation), revocation.device == device,
            device != assignment.signer, device != revocation.signer.key.device
        else { return false }
        let isRevoker = revocation.signer.key.device == assignment.signer
        let first = JobRoster.firstStamp(revoked: revocation.time, byRevoker: isRevoker)
        guard assignment.stamp >= first else { return false }
        return await revocation.isSigned(in: self)
    }

    private func signed(_ content: [UInt8]) -> [UInt8] {
        Array(Self.purpose.utf8) + [0] + root.key.bytes + content
    }
}

/// Who is on which job, as far as it was said: it only grows.
package struct AssignmentLog: Sendable {
    /// Of more jobs nothing is taken.
    package static let mostJobs = 1 << 20

    private var rosters: [JobID: JobRoster] = [:]
    /// A laptop signs with few certificates: each stands in memory once.
    private var chains: [DeviceID: [[UInt8]]] = [:]

    /// Nobody has said anything.
    package init() {}

    /// Nobody's word where nothing was said.
    package subscript(job: JobID) -> JobRoster { rosters[job] ?? JobRoster() }

    /// The jobs of which something was said, ascending.
    package var jobs: [JobID] { rosters.keys.sorted() }

    /// Takes a statement of one who may.
    ///
    /// - Returns: whether some of it is the last word.
    package mutating func add(_ statement: Assignment) -> Bool {
        guard rosters[statement.job] != nil || rosters.count < Self.mostJobs else { return false }
        return rosters[statement.job, default: JobRoster()].apply(sharing(statement))
    }

    /// Looks at what somebody has told of jobs.
    ///
    /// - Returns: what would be news here.
    /// - Throws: `AssignmentRefusal` when nobody who may has signed one of them.
    package func news(
        in statements: [Assignment], of trust: FleetTrust, now: TimeBounds
    ) async throws(AssignmentRefusal) -> [Assignment] {
        var touched: [JobID: JobRoster] = [:]
        var news: [Assignment] = []
        for statement in statements {
            var roster = touched[statement.job] ?? self[statement.job]
            guard roster.apply(statement) else { continue }
            guard await trust.allows(statement, now: now) else { throw AssignmentRefusal(signer: statement.signer) }
            touched[statement.job] = roster
            news.append(statement)
        }
        return news
    }

    private mutating func sharing(_ statement: Assignment) -> Assignment {
        let known = chains[statement.signer]
        if known == nil { chains[statement.signer] = statement.certificates }
        guard let known, known == statement.certificates else { return statement }
        var shared = statement
        shared.certificates = known
        return shared
    }
}

/// Somebody has said who is on a job who may not.
package struct AssignmentRefusal: IdentityFault, Hashable, Sendable {
    /// In whose name.
    package let signer: DeviceID

    /// What is wrong and what to do.
    package var sentence: String {
        "Nobody who may do so has signed who is on the job (\(signer.short)); let a lead or the office assign it."
    }
}
