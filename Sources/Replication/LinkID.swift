/// Names one connection of this process; never used again.
package struct LinkID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Counts connections from 1 on, in the order in which they were made or let in.
    package let number: UInt64

    /// Takes a number that no other connection of this process has had.
    package init(number: UInt64) {
        self.number = number
    }

    /// Orders by age: the older connection comes first.
    package static func < (left: LinkID, right: LinkID) -> Bool {
        left.number < right.number
    }

    /// The form in logs: `link-7`.
    package var description: String { "link-\(number)" }
}
