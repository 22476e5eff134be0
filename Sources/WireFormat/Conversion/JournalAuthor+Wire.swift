import CRDT
import FoundationEssentials

extension WireAuthor {
    init(_ author: JournalAuthor) {
        self.init()
        key = Data(author.key)
        nonce = Data(bigEndian: author.nonce)
        certificates = author.certificates.map { Data($0) }
    }

    func author() throws -> JournalAuthor {
        guard let nonce = UInt128(bigEndian: nonce),
            let author = JournalAuthor(
                key: [UInt8](key), nonce: nonce, certificates: certificates.map { [UInt8]($0) })
        else {
            let bytes = certificates.reduce(key.count + nonce.count) { $0 + $1.count }
            throw WireFormatError.identifierLength(.author, bytes: bytes)
        }
        return author
    }
}
