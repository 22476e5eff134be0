/// Why bytes could not be read.
package enum CodecError: Error, Hashable, Sendable {
    /// The bytes end too early.
    case truncated
    /// A varint has more than 64 bits, or something has a shorter form that is the right one.
    case overlong
    case notUTF8
    /// Something is larger than it may be: says what.
    case limitExceeded(String)
    /// The byte that says what follows says nothing that is known here.
    case unknownKind(UInt8)
    /// Bytes are left behind the end.
    case trailingBytes
    /// Nothing where there has to be something.
    case empty
    /// Entries that have to ascend do not.
    case disordered
}

/// Appends integers (big-endian), LEB128 varints and length-prefixed strings to bytes.
package struct ByteWriter: Sendable {
    /// Everything that was written so far, in that order.
    package private(set) var bytes: [UInt8] = []

    /// Begins with nothing written.
    /// - Parameter capacity: bytes to make room for at once; more may follow.
    package init(reservingCapacity capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// Appends one byte, without a length.
    package mutating func write(byte: UInt8) {
        bytes.append(byte)
    }

    /// Appends an integer in its full width, big-endian.
    package mutating func write(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends an LEB128 varint in its shortest form: 1 to 10 bytes.
    package mutating func write(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends the length in bytes as a varint, then the text's UTF-8.
    package mutating func write(_ text: String) {
        write(varint: UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Appends 24 bytes: the stamp (8), then its author (16).
    package mutating func write(_ write: WriteStamp) {
        self.write(write.stamp.rawValue)
        self.write(write.author.value)
    }

    /// Appends bytes as they are, without a length.
    package mutating func append(_ other: some Sequence<UInt8>) {
        bytes.append(contentsOf: other)
    }
}

/// Reads what `ByteWriter` wrote, from bytes that may be hostile: every length is checked before it is used.
///
/// It borrows its buffer: use it only within the closure that gave the buffer.
package struct ByteReader {
    /// The whole borrowed buffer: offsets and ranges count from its start.
    package let buffer: UnsafeRawBufferPointer
    /// Where the next byte is read.
    package private(set) var offset: Int
    /// Where reading stops; the buffer may go on behind it.
    package let end: Int

    /// Reads a buffer from its first byte to its last.
    package init(_ buffer: UnsafeRawBufferPointer) {
        self.init(buffer, from: 0, to: buffer.count)
    }

    /// Reads a part of a buffer. The bounds are not checked: they must ascend and lie within it.
    package init(_ buffer: UnsafeRawBufferPointer, from offset: Int, to end: Int) {
        self.buffer = buffer
        self.offset = offset
        self.end = end
    }

    /// Whether nothing is left before `end`.
    package var isAtEnd: Bool { offset == end }

    /// Takes one byte; throws `truncated` at the end.
    package mutating func readByte() throws(CodecError) -> UInt8 {
        guard offset < end else { throw .truncated }
        defer { offset += 1 }
        return buffer[offset]
    }

    /// Takes a big-endian integer in its full width; throws `truncated` when fewer bytes are left.
    package mutating func readInteger<Value: FixedWidthInteger>(
        as type: Value.Type = Value.self
    ) throws(CodecError) -> Value {
        let range = try readRange(count: MemoryLayout<Value>.size)
        return Value(bigEndian: buffer.loadUnaligned(fromByteOffset: range.lowerBound, as: Value.self))
    }

    /// Takes an LEB128 varint; throws `truncated`, or `overlong` for more than 64 bits or needless bytes.
    package mutating func readVarint() throws(CodecError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try readByte()
            guard shift < 63 || byte < 2 else { throw .overlong }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 {
                // One value has one encoding, else equal journals could have unequal digests.
                guard byte != 0 || shift == 0 else { throw .overlong }
                return value
            }
            shift += 7
        }
    }

    /// Passes bytes and tells where they lie; throws `truncated` for too few of them or a negative count.
    package mutating func readRange(count: Int) throws(CodecError) -> Range<Int> {
        guard count >= 0, count <= end - offset else { throw .truncated }
        defer { offset += count }
        return offset..<offset + count
    }

    /// The range of a length-prefixed string that was found to be UTF-8.
    package mutating func readStringRange(atMost limit: Int) throws(CodecError) -> Range<Int> {
        let count = try readVarint()
        guard count <= UInt64(limit) else { throw .limitExceeded("a string of \(count) bytes, at most \(limit)") }
        let range = try readRange(count: Int(count))
        guard isUTF8(range) else { throw .notUTF8 }
        return range
    }

    /// Takes a length-prefixed string; throws as `readStringRange` does.
    /// - Parameter limit: bytes of UTF-8.
    package mutating func readString(atMost limit: Int) throws(CodecError) -> String {
        string(try readStringRange(atMost: limit))
    }

    /// Takes a stamp and its author, 24 bytes, of any values; throws `truncated` when fewer are left.
    package mutating func readWriteStamp() throws(CodecError) -> WriteStamp {
        let stamp = Stamp(rawValue: try readInteger())
        return WriteStamp(stamp: stamp, author: ReplicaID(try readInteger()))
    }

    /// Passes a count and so many write stamps.
    mutating func skipWriteStamps() throws(CodecError) {
        let (bytes, isTooMany) = try readVarint().multipliedReportingOverflow(by: 24)
        _ = try readRange(count: isTooMany ? .max : Int(clamping: bytes))
    }

    /// A copy of the text in a range; bytes that `readStringRange` did not check and are no UTF-8 become U+FFFD.
    package func string(_ range: Range<Int>) -> String {
        String(decoding: buffer[range], as: UTF8.self)
    }

    private func isUTF8(_ range: Range<Int>) -> Bool {
        var position = range.lowerBound
        var seen: UInt64 = 0
        while position + 8 <= range.upperBound {
            seen |= buffer.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            position += 8
        }
        while position < range.upperBound {
            seen |= UInt64(buffer[position])
            position += 1
        }
        // Nearly all text here is ASCII, which this one test settles without making a string.
        return seen & 0x8080_8080_8080_8080 == 0 || String(validating: buffer[range], as: UTF8.self) != nil
    }
}
