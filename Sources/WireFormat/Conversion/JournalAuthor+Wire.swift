import CRDT
import FoundationEssentials

extension WireAuthor {
    init(_ author: JournalAuthor) {
        self.init()
        key = Data(author.key)
        nonce = author.nonce.map { Data(bigEndian: $0) } ?? Data()
        certificates = author.certificates.map { Data($0) }
    }

    func author() throws -> JournalAuthor {
        let number = UInt128(bigEndian: nonce)
        guard number != nil || nonce.isEmpty,
            let author = JournalAuthor(
                key: [UInt8](key), nonce: number, certificates: certificates.map { [UInt8]($0) })
        else {
            let bytes = certificates.reduce(key.count + nonce.count) { $0 + $1.count }
            throw WireFormatError.identifierLength(.author, bytes: bytes)
        }
        return author
    }
}
