import CRDT
import Foundation
import GRDB

extension UInt128 {
    /// 16 bytes, big-endian, so that SQLite's order of blobs is the order of the numbers.
    var blob: Data {
        withUnsafeBytes(of: bigEndian) { Data($0) }
    }

    init(blob: Data) {
        self = blob.withUnsafeBytes { $0.count == 16 ? UInt128(bigEndian: $0.loadUnaligned(as: UInt128.self)) : 0 }
    }
}

extension UInt64 {
    /// SQLite's integers are signed; the bits stay.
    var signed: Int64 { Int64(bitPattern: self) }
}

extension JournalHead {
    init(row: Row) {
        self.init(sequence: UInt64(bitPattern: row["sequence"]), digest: JournalDigest(blob: row["digest"]))
    }
}

extension JournalDigest {
    /// 32 bytes, big-endian.
    var blob: Data { Data(bytes) }

    init(blob: Data) {
        self = blob.withUnsafeBytes(JournalDigest.init(column:))
    }

    /// Of a column; `empty` for what has not 32 bytes, which nothing leads to.
    init(column: UnsafeRawBufferPointer) {
        self = JournalDigest(column) ?? .empty
    }
}
