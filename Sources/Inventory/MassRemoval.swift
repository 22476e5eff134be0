/// When a removal is so large that it is more likely a mistake, such as a directory that was not mounted, than meant.
package enum MassRemoval {
    /// Fewer items than this go without a question.
    package static let fewest = 20

    /// More than half of a job's items at once.
    ///
    /// - Parameter all: the items that are not removed yet.
    package static func needsConfirmation(removing count: Int, of all: Int) -> Bool {
        count >= fewest && count * 2 > all
    }
}
