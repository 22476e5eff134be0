import CRDT
import HTTPCoding
import LocalAPI
import Storage

#if canImport(Glibc)
    import Glibc
#endif

/// `musterd rollback`: the store of before the last upgrade is put back in the store's place (docs/storage.md).
package struct Rollback {
    /// How many jobs are told of one by one.
    private static let namedJobs = 10

    private let rollback: StoreRollback

    /// Takes the state directory for this process, as a daemon does, and looks what there is to go back to.
    ///
    /// - Throws: `ConfigurationError`, `APIError` or `StoreError`; nothing is changed.
    package init(_ configuration: NodeConfiguration) throws {
        let directory = configuration.stateDirectory
        try Self.actAsOwner(of: directory)
        guard access(StateDirectory.storePath(in: directory), F_OK) == 0 else {
            throw errno == EACCES
                ? APIError(.notPermitted, "The store in \(directory) is not yours; put sudo before the command.")
                : ConfigurationError(
                    "There is no store in \(directory); put sudo before the command for the machine's daemon, or name the directory with --state-dir."
                )
        }
        rollback = try StoreRollback(
            ofStoreAt: try StateDirectory(path: directory).storePath, program: MusterVersion.current)
    }

    /// Root does it with the rights of whom the directory belongs to: nothing in it becomes root's, and no link in it leads
    /// root elsewhere.
    private static func actAsOwner(of directory: String) throws {
        guard geteuid() == 0, let owner = Disk.owner(of: directory), owner.user != 0 else { return }
        guard setgroups(0, nil) == 0, setgid(owner.group) == 0, setuid(owner.user) == 0 else {
            throw APIError(.notPermitted, "The owner of \(directory) cannot be acted for; use sudo, or be that user.")
        }
    }

    /// What is about to happen, for people: lines.
    package var meaning: String {
        let made = Timestamp(milliseconds: rollback.madeMilliseconds)
        let former = rollback.former.isEmpty ? "an older version" : "version \(rollback.former)"
        var lines = [
            "This puts the store of before its upgrade to \(rollback.version) back: of \(former), copied at \(made)."
        ]
        switch rollback.losses {
        case .failure(let error):
            lines.append("What was written since then this version cannot tell (\(error.cause ?? error.description)).")
        case .success(let losses) where losses.isEmpty:
            lines.append(
                rollback.words.isEmpty ? "Nothing was written since then." : "No change was written since then.")
        case .success(let losses):
            lines.append("What was written since then, by job:")
            lines += losses.prefix(Self.namedJobs).map { "  \(Self.sentence(of: $0))" }
            if losses.count > Self.namedJobs { lines.append("  and \(losses.count - Self.namedJobs) more jobs") }
            lines.append(
                "What others hold of it comes back from them. The rest is in the newer store, and nowhere else.")
        }
        if !rollback.words.kept.isEmpty {
            lines.append("What was said since then goes over: \(Self.list(rollback.words.kept)).")
        }
        if !rollback.words.lost.isEmpty {
            lines.append("What does not go over, and has to be said again: \(Self.list(rollback.words.lost)).")
        }
        lines.append("The newer store is kept beside the other one.")
        return lines.map { $0 + "\n" }.joined()
    }

    private static func list(_ subjects: Set<RollbackWords.Subject>) -> String {
        subjects.sorted().map { subject in
            switch subject {
            case .assignments: "who is on which job"
            case .cutoffs: "how far the work of revoked laptops counts"
            case .pauses: "what is paused"
            case .sessions: "who is signed in"
            }
        }.joined(separator: ", ")
    }

    private static func sentence(of loss: RollbackLoss) -> String {
        // Names are what somebody has typed; a terminal obeys what is in them.
        let name = String(
            String.UnicodeScalarView(
                (loss.name.isEmpty ? loss.job.text : loss.name).unicodeScalars.filter {
                    ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
                }))
        var parts: [String] = []
        if loss.own > 0 {
            parts.append(
                "\(counted(loss.own)) of this laptop, "
                    + (loss.unheld == 0
                        ? "which others hold" : "of which \(loss.unheld) nobody else is known to hold"))
        }
        if loss.received > 0 { parts.append("\(counted(loss.received)) of others") }
        if loss.isRemoved { parts.append("the job was removed, and is back until a laptop tells of that") }
        return "\(name): \(parts.joined(separator: "; "))"
    }

    private static func counted(_ count: Int) -> String { "\(count) change\(count == 1 ? "" : "s")" }

    /// Does it.
    /// - Throws: `StoreError`; nothing is changed then.
    package func perform() throws -> RollbackReport { RollbackReport(rollback, kept: try rollback.perform()) }
}

/// What a rollback has done.
package struct RollbackReport: Encodable {
    private let version: String
    @Nullable private var former: String?
    private let copied: String
    private let kept: String
    private let upgradesAgain: Bool
    @Nullable private var jobs: [Job]?
    private let taken: [RollbackWords.Subject]
    private let lost: [RollbackWords.Subject]

    private struct Job: Codable, Hashable, Sendable {
        let id: String
        let name: String
        let own: Int
        let unheld: Int
        let received: Int
        let isRemoved: Bool
    }

    init(_ rollback: StoreRollback, kept: String) {
        version = rollback.version
        former = rollback.former.isEmpty ? nil : rollback.former
        copied = "\(Timestamp(milliseconds: rollback.madeMilliseconds))"
        self.kept = kept
        upgradesAgain = rollback.upgradesAgain
        (taken, lost) = (rollback.words.kept.sorted(), rollback.words.lost.sorted())
        jobs = (try? rollback.losses.get())?.map {
            Job(
                id: $0.job.text, name: $0.name, own: $0.own, unheld: $0.unheld, received: $0.received,
                isRemoved: $0.isRemoved)
        }
    }

    /// For scripts.
    package func json() throws -> String { String(decoding: try JSON.encode(self, pretty: true), as: UTF8.self) + "\n" }

    /// For people.
    package var text: String {
        let next =
            upgradesAgain
            ? "This program is \(MusterVersion.current) and would upgrade it again: install \(former.map { "version \($0)" } ?? "the version before it") first, then start the daemon."
            : "Start the daemon: systemctl start musterd"
        return "The store of before the upgrade to \(version) is back. The newer one is kept as \(kept).\n\(next)\n"
    }
}

/// Nobody has said that it is meant; nothing was changed.
package enum RollbackNotConfirmed: Error, Hashable, Sendable {
    /// There is no terminal to ask at.
    case nobodyThere
    /// A person has said no.
    case declined
}
