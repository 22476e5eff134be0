/// What is left of a change that is folded away: how many transforms it had, and the hash of its record. So vectors,
/// sequences and digests stay as they were, and two copies of a journal are told apart at every change.
///
///     stub = length:varint  count:varint  hash:8
///
/// Its body is shorter than that of any change, by which it is told from one.
package struct JournalStub: Hashable, Sendable {
    static let bodyBytes = 9...10

    package let count: UInt64
    package let hash: UInt64

    package init(count: UInt64, hash: UInt64) {
        self.count = count
        self.hash = hash
    }

    /// What is left of a change.
    package init(_ scanned: ScannedChange, in buffer: UnsafeRawBufferPointer) {
        self.init(count: UInt64(scanned.operationCount), hash: scanned.hash(in: buffer))
    }

    package var bytes: [UInt8] {
        var body = ByteWriter(reservingCapacity: 11)
        body.write(varint: count)
        body.write(hash)
        var record = ByteWriter(reservingCapacity: 11)
        record.write(varint: UInt64(body.bytes.count))
        record.append(body.bytes)
        return record.bytes
    }

    init(_ reader: inout ByteReader) throws(CodecError) {
        count = try reader.readVarint()
        guard count > 0 else { throw .empty }
        guard count <= UInt64(ChangeLimits.operations) else { throw .limitExceeded("a stub of \(count) transforms") }
        hash = try reader.readInteger()
        guard reader.isAtEnd else { throw .trailingBytes }
    }
}
