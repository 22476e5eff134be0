/// Cuts a stream of bytes into lines, wherever its pieces begin and end.
package struct LineSplitter: Sendable {
    private var rest: [UInt8] = []

    /// Of nothing yet.
    package init() {}

    /// How much has come of a line whose end has not.
    package var restBytes: Int { rest.count }

    /// The lines that the piece completes, without their newline. Empty lines are left out.
    package mutating func add(_ piece: some Sequence<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for byte in piece {
            if byte == UInt8(ascii: "\n") {
                if !rest.isEmpty { lines.append(rest) }
                rest.removeAll(keepingCapacity: true)
            } else {
                rest.append(byte)
            }
        }
        return lines
    }
}
