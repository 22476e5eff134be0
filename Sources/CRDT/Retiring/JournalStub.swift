/// What is left of a run of journal whose changes are folded away: how many transforms they were, and the running
/// digest after them. So vectors, sequences and digests stay as they were.
///
///     stub = length:varint  count:varint  digest:8
///
/// Its body is shorter than that of any change, by which it is told from one.
package struct JournalStub: Hashable, Sendable {
    static let bodyBytes = 9...14

    package let count: UInt64
    package let digest: UInt64

    package init(count: UInt64, digest: UInt64) {
        self.count = count
        self.digest = digest
    }

    package var bytes: [UInt8] {
        var body = ByteWriter(reservingCapacity: 15)
        body.write(varint: count)
        body.write(digest)
        var record = ByteWriter(reservingCapacity: 15)
        record.write(varint: UInt64(body.bytes.count))
        record.append(body.bytes)
        return record.bytes
    }

    init(_ reader: inout ByteReader) throws(CodecError) {
        count = try reader.readVarint()
        guard count > 0 else { throw .empty }
        guard count <= ChangeLimits.sequence else { throw .limitExceeded("a stub of \(count) transforms") }
        digest = try reader.readInteger()
        guard reader.isAtEnd else { throw .trailingBytes }
    }
}
