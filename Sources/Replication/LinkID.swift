/// Names one connection of this process; never used again.
package struct LinkID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let number: UInt64

    package init(number: UInt64) {
        self.number = number
    }

    package static func < (left: LinkID, right: LinkID) -> Bool {
        left.number < right.number
    }

    package var description: String { "link-\(number)" }
}
