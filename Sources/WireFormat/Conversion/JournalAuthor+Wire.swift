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
        guard certificates.count <= JournalAuthor.mostCertificates else {
            throw WireFormatError.tooManyEntries(.author, count: certificates.count)
        }
        if let long = certificates.first(where: { $0.count > JournalAuthor.longestCertificate }) {
            throw WireFormatError.textTooLong(.author, bytes: long.count)
        }
        guard let nonce = UInt128(bigEndian: nonce),
            let author = JournalAuthor(
                key: [UInt8](key), nonce: nonce, certificates: certificates.map { [UInt8]($0) })
        else { throw WireFormatError.identifierLength(.author, bytes: key.count + nonce.count) }
        return author
    }
}
