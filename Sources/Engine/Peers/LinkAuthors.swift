import Authorship
import CRDT

/// The authors of journals that a peer has told of on one link, as long as nothing of theirs is stored: it tells each once,
/// and the run that came with it may be put off, or fail with a full disk.
struct HeardAuthors: Sendable {
    /// In bytes: some thousand. Of more, what a peer sends without an author is nobody's.
    static let most = 8 << 20

    private var authors: [ReplicaID: JournalAuthor] = [:]
    private var bytes = 0

    /// What a peer sends, with the author that it has told before.
    mutating func complete(_ segment: JournalSegment) -> JournalSegment {
        if let author = segment.author {
            let known = authors[author.name]
            let cost = Self.cost(author) - (known.map(Self.cost) ?? 0)
            if known?.certificates.isEmpty ?? true, bytes + cost <= Self.most {
                authors[author.name] = author
                bytes += cost
            }
            return segment
        }
        var segment = segment
        segment.author = segment.authorName.flatMap { authors[$0] }
        return segment
    }

    /// The store knows who has written a run from now on.
    mutating func forget(_ segment: JournalSegment) {
        guard let name = segment.authorName, let author = authors.removeValue(forKey: name) else { return }
        bytes -= Self.cost(author)
    }

    private static func cost(_ author: JournalAuthor) -> Int {
        author.certificates.reduce(192) { $0 + $1.count }
    }
}

/// The journals of which a peer was told on one link who writes them, each once; and once more when that one has joined a fleet.
struct ToldAuthors: Sendable {
    private var withCertificates: Set<ReplicaID> = []
    private var without: Set<ReplicaID> = []

    /// - Returns: whether this is news to the peer.
    mutating func insert(_ author: JournalAuthor) -> Bool {
        if !author.certificates.isEmpty { return withCertificates.insert(author.name).inserted }
        return !withCertificates.contains(author.name) && without.insert(author.name).inserted
    }
}
