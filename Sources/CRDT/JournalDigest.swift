/// What stands for all of a journal up to one of its changes: 256 bits, a link of the chain that `Authorship` makes.
package struct JournalDigest: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// That of a journal that has no transform.
    package static let empty = JournalDigest(high: 0, low: 0)

    /// The first 32 hexadecimal digits.
    package let high: UInt128
    /// The last 32 hexadecimal digits.
    package let low: UInt128

    /// Takes any 256 bits, the more significant half first.
    package init(high: UInt128, low: UInt128) {
        self.high = high
        self.low = low
    }

    /// Takes the 32 bytes of `bytes`; nil for any other number of them.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 32 else { return nil }
        self.init(
            high: UInt128(bigEndian: bytes.loadUnaligned(as: UInt128.self)),
            low: UInt128(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt128.self)))
    }

    /// 32 of them, big-endian, so that they order as the numbers do.
    package var bytes: [UInt8] {
        var bytes = ByteWriter(reservingCapacity: 32)
        bytes.write(self)
        return bytes.bytes
    }

    /// Reads 64 hexadecimal digits; nil for anything else.
    package init?(_ text: some StringProtocol) {
        guard let bits = DeviceID(text) else { return nil }
        self.init(high: bits.high, low: bits.low)
    }

    /// Orders as 256-bit numbers.
    package static func < (left: JournalDigest, right: JournalDigest) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    /// 64 lower-case hexadecimal digits.
    package var description: String {
        high.hexadecimalDigits(count: 32) + low.hexadecimalDigits(count: 32)
    }
}

extension ScannedChange {
    /// The hash of the change's record. Of two branches of a journal the one stays whose first change has the smaller one
    /// (rule R9).
    package func hash(in buffer: UnsafeRawBufferPointer) -> UInt64 {
        SipHash.hash(UnsafeRawBufferPointer(rebasing: buffer[record]), key: (0, 0x6d75_7374_6572_0001))
    }
}

extension ByteWriter {
    /// Appends 32 bytes.
    package mutating func write(_ digest: JournalDigest) {
        write(digest.high)
        write(digest.low)
    }
}

extension ByteReader {
    /// Takes 32 bytes; throws `truncated` when fewer are left.
    package mutating func readDigest() throws(CodecError) -> JournalDigest {
        JournalDigest(high: try readInteger(), low: try readInteger())
    }
}
