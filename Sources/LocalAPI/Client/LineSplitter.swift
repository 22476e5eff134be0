/// Cuts a stream of bytes into lines, wherever its pieces begin and end.
struct LineSplitter {
    private var rest: [UInt8] = []

    /// The lines that the piece completes, without their newline. Empty lines are left out.
    mutating func add(_ piece: some Sequence<UInt8>) -> [[UInt8]] {
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
