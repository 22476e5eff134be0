/// Cuts a stream of bytes into lines, wherever its pieces begin and end.
package struct LineSplitter: Sendable {
    private var unended: [UInt8] = []

    /// Of nothing yet.
    package init() {}

    /// How much has come of a line whose end has not.
    package var restBytes: Int { unended.count }

    /// What came behind the last newline; nil where there is nothing. To be asked for when no other piece follows.
    package var rest: [UInt8]? { unended.isEmpty ? nil : unended }

    /// The lines that the piece completes, without their newline. Empty lines are left out.
    package mutating func add(_ piece: some Sequence<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for byte in piece {
            if byte == UInt8(ascii: "\n") {
                if !unended.isEmpty { lines.append(unended) }
                unended.removeAll(keepingCapacity: true)
            } else {
                unended.append(byte)
            }
        }
        return lines
    }
}
