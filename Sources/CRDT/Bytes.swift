/// Why bytes could not be read.
package enum CodecError: Error, Hashable, Sendable {
    case truncated
    case overlong
    case notUTF8
    case limitExceeded(String)
    case unknownKind(UInt8)
    case trailingBytes
    case empty
    /// Entries that have to ascend do not.
    case disordered
}

/// Appends integers (big-endian), LEB128 varints and length-prefixed strings to bytes.
package struct ByteWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init(reservingCapacity capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    package mutating func write(byte: UInt8) {
        bytes.append(byte)
    }

    package mutating func write(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    package mutating func write(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    package mutating func write(_ text: String) {
        write(varint: UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    package mutating func write(_ write: WriteStamp) {
        self.write(write.stamp.rawValue)
        self.write(write.author.value)
    }

    package mutating func append(_ other: some Sequence<UInt8>) {
        bytes.append(contentsOf: other)
    }
}

/// Reads what `ByteWriter` wrote, from bytes that may be hostile: every length is checked before it is used.
///
/// It borrows its buffer: use it only within the closure that gave the buffer.
package struct ByteReader {
    package let buffer: UnsafeRawBufferPointer
    package private(set) var offset: Int
    package let end: Int

    package init(_ buffer: UnsafeRawBufferPointer) {
        self.init(buffer, from: 0, to: buffer.count)
    }

    package init(_ buffer: UnsafeRawBufferPointer, from offset: Int, to end: Int) {
        self.buffer = buffer
        self.offset = offset
        self.end = end
    }

    package var isAtEnd: Bool { offset == end }

    package mutating func readByte() throws(CodecError) -> UInt8 {
        guard offset < end else { throw .truncated }
        defer { offset += 1 }
        return buffer[offset]
    }

    package mutating func readInteger<Value: FixedWidthInteger>(
        as type: Value.Type = Value.self
    ) throws(CodecError) -> Value {
        let range = try readRange(count: MemoryLayout<Value>.size)
        return Value(bigEndian: buffer.loadUnaligned(fromByteOffset: range.lowerBound, as: Value.self))
    }

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

    package mutating func readString(atMost limit: Int) throws(CodecError) -> String {
        string(try readStringRange(atMost: limit))
    }

    package mutating func readWriteStamp() throws(CodecError) -> WriteStamp {
        let stamp = Stamp(rawValue: try readInteger())
        return WriteStamp(stamp: stamp, author: ReplicaID(try readInteger()))
    }

    /// Passes a count and so many write stamps.
    mutating func skipWriteStamps() throws(CodecError) {
        let (bytes, isTooMany) = try readVarint().multipliedReportingOverflow(by: 24)
        _ = try readRange(count: isTooMany ? .max : Int(clamping: bytes))
    }

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
