/// A run of one replica's journal in one job: whole changes, encoded, in sequence.
///
/// Segments are immutable and context-free: they are stored, cut and passed on as they are (see `ChangeCodec`).
package struct JournalSegment: Hashable, Sendable {
    /// How long a run mostly is, in bytes, where a journal is cut to be stored or sent: who stores one keeps the people at that
    /// laptop waiting for as long.
    package static let usualBytes = 128 << 10
    /// No run is longer, in bytes, so that each fits into a frame: it ends only where its author has signed.
    package static let longestBytes = 960 << 10

    /// Whose journal it is.
    package let replica: ReplicaID
    /// The sequence of the first transform.
    package let first: UInt64
    /// Where the journal stands after the last transform.
    package let head: JournalHead
    /// Encoded changes.
    package let bytes: [UInt8]
    /// Of the author over `head`; nil where another branch was put after that.
    package var signature: JournalSignature?
    /// Whose key signs; nil where the other end has heard of that.
    package var author: JournalAuthor?

    /// Takes the parts as they are: whether they fit the bytes and each other is checked where it is stored.
    /// - Parameter first: 1 at least.
    package init(
        replica: ReplicaID, first: UInt64, head: JournalHead, bytes: [UInt8], signature: JournalSignature? = nil,
        author: JournalAuthor? = nil
    ) {
        self.replica = replica
        self.first = first
        self.head = head
        self.bytes = bytes
        self.signature = signature
        self.author = author
    }
}
