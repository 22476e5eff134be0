/// What is held against the reference. A run that made something possible and never looked at it proves nothing of it.
package enum Check: String, Hashable, Sendable, CaseIterable {
    /// An item right after something was stored that touches it: nothing waits for its time (rule R6).
    case shownAtOnce
    /// An item in a list, with its fields and remarks; one that was removed and is kept.
    case item, field, remark, removedItem
    /// A field with several values that nobody has settled, of an item or of the job itself; several items of one barcode.
    case conflict, jobConflict, duplicateBarcode
    /// An item of the canonical export, read from its bytes; the digest and the counts that go with it.
    case exportedItem, digest, counts
    /// A line of the timeline, a value that the log explains, and one of which it tells what its author saw before.
    case timelineLine, explainedValue, seenValue
    /// What a job adds up to.
    case summary
    /// A request that waits, and what is shown of the office's part.
    case pendingRequest, overlay
    /// Late work in the list that a person reads; a job whose removal frees what it should.
    case lateChange, freedJob
    /// A transform that was acknowledged, looked for on one device; a journal read from its first change to its head.
    case acknowledged, journal
    /// What leaves a laptop about a job that was narrowed, and what goes to one that is not on it.
    case membership, outsider
    /// What was told of such a job to one that is on it, and whom it is for before that.
    case wordsFirst
    /// The words about who is on a job, with one that is on it, and with one that was taken off it, in the end.
    case sharedWords, dismissal
    /// A stamp of something new, and a clock that claims to know the time.
    case stamp, clock
}
