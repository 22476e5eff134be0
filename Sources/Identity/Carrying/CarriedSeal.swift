package import CRDT
import Crypto
import FoundationEssentials

/// Why a carried file, or the rest of it, is not read.
package enum CarriedFault: IdentityFault, Hashable {
    /// It is none.
    case noCarriedFile
    /// It was written for another laptop.
    case forAnother(DeviceID)
    /// Some of it is not as it was written.
    case damaged
    /// Its end is not there.
    case truncated
    /// Nobody can encrypt to this key.
    case unusableKey

    /// What is wrong and what to do.
    package var sentence: String {
        switch self {
        case .noCarriedFile: "This is no file of 'muster carry out'; name another one."
        case .forAnother(let device):
            "This file is for the laptop \(device.short) and can be read there only; carry out again, for this one."
        case .damaged: "The file is damaged; carry out again, and take that."
        case .truncated: "The file is not whole; carry out again, and take that."
        case .unusableKey:
            "Nothing can be carried to that laptop; let it leave the fleet, which gives it a new key, and join again."
        }
    }
}

/// What both ends of a carried file know.
enum CarriedFormat {
    /// The first bytes of each file.
    static let magic = Array("muster carry 1\n".utf8)
    static let purpose = Array("muster carry 1".utf8) + [0]
    /// Then the recipient's id and the encapsulated key (RFC 9180 section 4.1).
    static let headerBytes = magic.count + 64
    static let suite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly
    /// Of a piece, before it is sealed.
    static let mostBytes = 2 << 20
    /// What the cipher adds.
    static let tagBytes = 16
    static let lastFlag: UInt32 = 1 << 31

    static func info(_ recipient: DevicePublicKey) -> Data { Data(purpose + recipient.bytes) }

    /// What its writer signs: that this file, to this laptop, is theirs.
    static func signed(_ header: some Collection<UInt8>) -> [UInt8] { purpose + header }
}

/// Encrypts a file to one laptop, piece by piece (HPKE, RFC 9180, in base mode): pieces that were left out, exchanged or come from
/// another file cannot be opened, and the last one says that it is the last.
package struct CarriedSealer {
    /// The file's beginning.
    package let header: [UInt8]
    private var sender: HPKE.Sender

    /// - Throws: `CarriedFault.unusableKey`.
    package init(to recipient: DevicePublicKey) throws {
        guard let key = recipient.agreementKey else { throw CarriedFault.unusableKey }
        sender = try HPKE.Sender(
            recipientKey: key, ciphersuite: CarriedFormat.suite, info: CarriedFormat.info(recipient))
        header = CarriedFormat.magic + recipient.device.bytes + sender.encapsulatedKey
    }

    /// The signature by which a laptop shows that it has begun this file.
    package func signature(by key: DeviceKey) -> [UInt8] { key.signature(over: CarriedFormat.signed(header)) }

    /// - Parameter piece: not more than 2 MiB.
    /// - Returns: what stands in the file.
    package mutating func seal(_ piece: [UInt8], isLast: Bool) throws -> [UInt8] {
        let length = UInt32(piece.count + CarriedFormat.tagBytes) | (isLast ? CarriedFormat.lastFlag : 0)
        let prefix = withUnsafeBytes(of: length.bigEndian, Array.init)
        return prefix + (try sender.seal(piece, authenticating: prefix))
    }
}

/// Reads such a file, whatever pieces its bytes come in.
package struct CarriedOpener {
    private let key: DeviceKey
    private var buffer: [UInt8] = []
    private var start = 0
    private var recipient: HPKE.Recipient?
    private var header: [UInt8] = []
    /// Its last piece was read.
    package private(set) var isAtEnd = false

    /// - Parameter key: of this laptop.
    package init(_ key: DeviceKey) { self.key = key }

    /// More of the file has come.
    package mutating func add(_ bytes: [UInt8]) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer += bytes
    }

    /// The next piece as it was before it was sealed; nil until more has come.
    ///
    /// - Throws: `CarriedFault`.
    package mutating func next() throws(CarriedFault) -> [UInt8]? {
        if recipient == nil, try !begin() { return nil }
        guard buffer.count - start >= 4 else { return nil }
        guard !isAtEnd else { throw .damaged }
        let prefix = Array(buffer[start..<start + 4])
        let word = prefix.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let (length, isLast) = (Int(word & ~CarriedFormat.lastFlag), word & CarriedFormat.lastFlag != 0)
        guard (CarriedFormat.tagBytes...CarriedFormat.mostBytes + CarriedFormat.tagBytes).contains(length) else {
            throw .damaged
        }
        guard buffer.count - start >= 4 + length else { return nil }
        let sealed = buffer[start + 4..<start + 4 + length]
        guard let piece = try? recipient?.open(sealed, authenticating: prefix) else { throw .damaged }
        start += 4 + length
        isAtEnd = isLast
        return Array(piece)
    }

    /// Nothing more comes.
    ///
    /// - Throws: `CarriedFault` where that is not the end.
    package func finish() throws(CarriedFault) {
        guard recipient != nil else { throw .noCarriedFile }
        guard isAtEnd else { throw .truncated }
        guard start == buffer.count else { throw .damaged }
    }

    /// Whether a laptop has begun this file; after the first piece.
    package func isSigned(_ signature: [UInt8], by writer: DevicePublicKey) -> Bool {
        (try? Curve25519.Signing.PublicKey(rawRepresentation: writer.bytes))?
            .isValidSignature(signature, for: CarriedFormat.signed(header)) ?? false
    }

    /// - Returns: false until the whole header has come.
    private mutating func begin() throws(CarriedFault) -> Bool {
        guard buffer.prefix(CarriedFormat.magic.count).elementsEqual(CarriedFormat.magic.prefix(buffer.count)) else {
            throw .noCarriedFile
        }
        guard buffer.count >= CarriedFormat.headerBytes else { return false }
        header = Array(buffer[..<CarriedFormat.headerBytes])
        let device = header[CarriedFormat.magic.count...].prefix(32)
        guard device.elementsEqual(key.publicKey.device.bytes) else { throw .forAnother(DeviceID(bytes: device)) }
        guard let agreement = key.agreementKey,
            let opened = try? HPKE.Recipient(
                privateKey: agreement, ciphersuite: CarriedFormat.suite, info: CarriedFormat.info(key.publicKey),
                encapsulatedKey: Data(header.suffix(32)))
        else { throw .damaged }
        recipient = opened
        start = CarriedFormat.headerBytes
        return true
    }
}

extension DeviceID {
    /// 32, the most significant first.
    fileprivate var bytes: [UInt8] {
        withUnsafeBytes(of: high.bigEndian, Array.init) + withUnsafeBytes(of: low.bigEndian, Array.init)
    }

    /// - Parameter bytes: 32.
    fileprivate init(bytes: some Collection<UInt8>) {
        func number(_ half: some Collection<UInt8>) -> UInt128 { half.reduce(0) { $0 << 8 | UInt128($1) } }
        self.init(high: number(bytes.prefix(16)), low: number(bytes.dropFirst(16)))
    }
}
