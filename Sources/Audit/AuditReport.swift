import Authorship
import CRDT
package import HTTPCoding
import Identity

/// What an audit has found: whose each journal is, and whether it is theirs.
package struct AuditReport: Encodable, Sendable {
    /// How far a journal is to be believed.
    package enum Standing: String, Encodable, Sendable {
        /// Its author has signed all of it, and the fleet has let that laptop, or server, write.
        case proven
        /// All of it is one key's; which fleet that belonged to nothing shows.
        case signed
        /// All of it is one key's, which nobody of this fleet has let in, or to look only.
        case outsider
        /// Something in it is not its author's, or is missing.
        case broken
    }

    /// One laptop's, or the server's.
    package struct Journal: Encodable, Sendable {
        /// 32 hexadecimal digits.
        package let replicaID: String
        /// 64 hexadecimal digits; nil where no author is told.
        package let deviceID: String?
        /// For people to compare; nil as above.
        package let keyWords: String?
        /// What the laptop calls itself; nil where it does not say.
        package let name: String?
        /// Who was at it, in the order in which they came, as the laptop says: its key signs, and no person's.
        package let people: [String]
        /// What it may do in the fleet; nil unless it is proven.
        package let role: String?
        /// Who let it in; nil unless it is proven.
        package let issuerID: String?
        /// How many are signed.
        package let changes: Int
        /// The place of the last transform of them.
        package let lastSequence: UInt64
        /// The earliest and the latest time of them by its clock; nil where there are none.
        package let firstAt: Timestamp?
        /// As above.
        package let lastAt: Timestamp?
        /// How far it is to be believed.
        package let standing: Standing
        /// What is wrong; nil unless it is broken.
        package let problem: String?
    }

    /// A customer's, as the server has said it.
    package struct Signature: Encodable, Sendable {
        /// Of who signed.
        package let name: String
        /// SHA-256 of the canonical export that was signed for: 64 hexadecimal digits.
        package let digest: String
        /// By the server's clock.
        package let at: Timestamp
    }

    /// Of the job.
    package let job: String
    /// The fleet's short id; nil where the laptop that exported belonged to none.
    package let fleetID: String?
    /// The whole id of the fleet's root: 64 hexadecimal digits. Whoever computes for days can make another root with the short one.
    package let rootID: String?
    /// When it was exported, as it says itself: nobody signs that.
    package let exportedAt: Timestamp
    /// Whether nothing in it is broken, and all of it is of the fleet, if there is one.
    package let holds: Bool
    /// Ascending by the laptop's name.
    package let journals: [Journal]
    /// In the order in which the server took them; none where its journal is not to be believed.
    package let signatures: [Signature]
}

extension AuditReport.Journal {
    fileprivate var isServers: Bool { replicaID == ReplicaID.channel.description }
}

extension AuditReport.Signature {
    /// Nil for any other value that a server publishes.
    init?(_ operation: CRDT.Operation, at stamp: Stamp) {
        struct Content: Decodable {
            let name: String
            let digest: String
        }
        guard case .publish(let published) = operation, published.name == "signature",
            let content = try? JSON.decode(Content.self, from: Array(published.value.utf8))
        else { return nil }
        self.init(
            name: content.name, digest: content.digest,
            at: Timestamp(milliseconds: Int64(clamping: stamp.milliseconds)))
    }
}

extension HistoryAudit {
    /// What was found, once all lines have come.
    package func report() async throws(Fault) -> AuditReport {
        guard let header, let job else {
            throw Fault(sentence: "The file is empty; write it with 'muster job export JOB --format history'.")
        }
        guard isWhole else {
            throw Fault(sentence: "The history ends in the middle; \(Fault.remedy).")
        }
        var trust: FleetTrust?
        if let fleet = header.fleet {
            guard let root = try? FleetCertificate(Array(fleet)), let found = FleetTrust(root: root) else {
                throw Fault(sentence: "The certificate of the fleet in the history cannot be read; \(Fault.remedy).")
            }
            trust = found
        }
        var found: [AuditReport.Journal] = []
        for (replica, journal) in journals { found.append(await judge(journal, replica, trust)) }
        found.sort { ($0.name ?? "~", $0.replicaID) < ($1.name ?? "~", $1.replicaID) }
        return AuditReport(
            job: job.text, fleetID: trust?.short, rootID: trust?.root.key.device.description,
            exportedAt: header.exportedAt,
            holds: found.allSatisfy { $0.standing != .broken && $0.standing != .outsider }, journals: found,
            signatures: found.contains { $0.isServers && $0.standing == .proven } ? signatures : [])
    }

    private func judge(_ journal: Journal, _ replica: ReplicaID, _ trust: FleetTrust?) async -> AuditReport.Journal {
        let problem = journal.problem ?? (journal.changes == 0 ? "it holds nothing" : nil)
        let member = problem == nil ? await member(journal.author, of: trust) : nil
        let standing: AuditReport.Standing =
            problem != nil ? .broken : member != nil ? .proven : trust == nil ? .signed : .outsider
        let device = journal.author?.device
        return AuditReport.Journal(
            replicaID: replica.description, deviceID: device?.description, keyWords: device.map(KeyWords.of),
            name: replica == .channel ? "the server" : journal.name, people: journal.people,
            role: member?.role.rawValue,
            issuerID: member?.issuer.device.description, changes: journal.changes,
            lastSequence: journal.head.sequence,
            firstAt: journal.first.map { Timestamp(milliseconds: Int64(clamping: $0.milliseconds)) },
            lastAt: journal.first.map { _ in Timestamp(milliseconds: Int64(clamping: journal.last.milliseconds)) },
            standing: standing, problem: problem)
    }

    /// Whom the fleet has let write. When is not asked: what was written stays written.
    private func member(_ author: JournalAuthor?, of trust: FleetTrust?) async -> FleetMember? {
        guard let author, let member = await trust?.member(author, now: .since(0)) else { return nil }
        return member.role.mayWrite ? member : nil
    }
}
