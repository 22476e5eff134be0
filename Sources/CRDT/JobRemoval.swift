/// The end of a whole job: what its remover held of it (rule R10).
///
/// Everything up to there is freed on every device. What lies beyond it the remover had not seen: it is late work, which
/// stays and is listed until a person deals with it. The digests tell a journal's other branch, which the remover did not
/// hold either (rule R9).
package struct JobRemoval: Hashable, Sendable {
    /// In Unicode scalars, as JSON Schema counts them; so at most four times as many bytes.
    package static let longestName = 256

    /// What people called the job. It is theirs again.
    package let name: String
    /// Up to where each journal went with the job; of a journal that is not named everything is late.
    package let heads: VersionVector

    /// Takes a name of any length and keeps its first `longestName` scalars.
    package init(name: String, heads: VersionVector) {
        self.name = Self.bounded(name)
        self.heads = heads
    }

    /// Of two removals that did not know each other: what lies beyond both is late. The same whichever comes first.
    package func merged(with other: JobRemoval) -> JobRemoval {
        var merged = heads
        for entry in other.heads.entries where Self.reachesFarther(entry.head, than: merged[entry.replica]) {
            merged.set(entry.replica, to: entry.head)
        }
        let isFirst = !other.name.utf8.lexicographicallyPrecedes(name.utf8)
        return JobRemoval(name: isFirst ? name : other.name, heads: merged)
    }

    /// Whether another removal adds nothing to this one.
    package func covers(_ other: JobRemoval) -> Bool { merged(with: other) == self }

    /// Whether a transform of a journal went with the job.
    package func covers(_ sequence: UInt64, of replica: ReplicaID) -> Bool { sequence <= heads[replica].sequence }

    /// Of two branches of one length the digest decides, so that all agree.
    private static func reachesFarther(_ head: JournalHead, than other: JournalHead) -> Bool {
        (head.sequence, head.digest) > (other.sequence, other.digest)
    }

    /// Whether a name is short enough to be kept as it is.
    package static func isNameBounded(_ name: String) -> Bool { name.unicodeScalars.count <= longestName }

    private static func bounded(_ name: String) -> String {
        isNameBounded(name) ? name : String(String.UnicodeScalarView(name.unicodeScalars.prefix(longestName)))
    }

    /// Compares names by their bytes.
    package static func == (left: JobRemoval, right: JobRemoval) -> Bool {
        left.heads == right.heads && left.name.utf8.elementsEqual(right.name.utf8)
    }

    /// Hashes the heads alone; names seldom differ where they are equal.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(heads)
    }
}
