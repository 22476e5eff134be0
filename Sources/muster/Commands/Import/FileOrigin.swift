import CRDT
import Crypto

/// The ids of what a file's rows become in a job. They follow from the file's content, the job and the line: whoever imports the same file
/// into the same job again, be it on another laptop, finds his rows there, and none is doubled.
struct FileOrigin {
    private let digest: [UInt8]

    /// - Parameters:
    ///   - job: its full id.
    ///   - file: of its text, unpacked.
    init(job: String, file: SHA256.Digest) {
        var hash = SHA256()
        hash.update(data: Array("muster import\n\(job)\n".utf8))
        hash.update(data: Array(file))
        digest = Array(hash.finalize())
    }

    /// - Parameter line: on which the row begins.
    func id(line: Int) -> ItemID {
        let line = UInt64(line)
        var hash = SHA256()
        hash.update(data: digest)
        hash.update(data: withUnsafeBytes(of: line.bigEndian) { Array($0) })
        let number = hash.finalize().prefix(16).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        return ItemID(row: line, ofFile: file, hash: number)
    }

    /// Whether it is the id of a line up to the last.
    func made(_ id: ItemID, upTo last: Int) -> Bool {
        // All but the file's own are told apart without a hash.
        guard id.file == file & 0xFFF else { return false }
        let lines = stride(from: Int(id.row), through: last, by: ItemID.rowsInOrder)
        return lines.contains { self.id(line: $0) == id }
    }

    private var file: UInt16 { UInt16(digest[0]) << 8 | UInt16(digest[1]) }
}
