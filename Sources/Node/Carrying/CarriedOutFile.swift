import CRDT
import Engine
import Identity
import LocalAPIServer
import WireFormat

/// A file for one laptop, piece by piece: who has written it, and then what is said.
actor CarriedOutFile {
    /// A piece is sealed when so much has gathered.
    private static let pieceBytes = 128 << 10

    private enum Place { case header, greeting, middle, end }

    private let out: CarriedOut
    private var sealer: CarriedSealer
    private let greeting: [UInt8]
    private var place = Place.header

    init(_ out: CarriedOut, to recipient: DevicePublicKey, by key: DeviceKey, showing chain: [[UInt8]]) throws {
        self.out = out
        sealer = try CarriedSealer(to: recipient)
        greeting = CarriedGreeting(signature: sealer.signature(by: key), chain: chain).bytes
    }

    /// The next piece; nil after the last.
    func next() async throws -> [UInt8]? {
        switch place {
        case .header:
            place = .greeting
            return sealer.header
        case .greeting:
            place = .middle
            return try sealer.seal(greeting, isLast: false)
        case .middle:
            var piece: [UInt8] = []
            while piece.count < Self.pieceBytes {
                guard let message = try await out.next() else {
                    place = .end
                    return try sealer.seal(piece, isLast: true)
                }
                piece += try RecordedMessages.frame(of: message)
            }
            return try sealer.seal(piece, isLast: false)
        case .end: return nil
        }
    }
}

/// The first piece of a file: who has written it, as they show it to a peer.
struct CarriedGreeting {
    let signature: [UInt8]
    let chain: [[UInt8]]

    init(signature: [UInt8], chain: [[UInt8]]) {
        self.signature = signature
        self.chain = chain
    }

    var bytes: [UInt8] {
        signature + chain.flatMap { withUnsafeBytes(of: UInt16(clamping: $0.count).bigEndian, Array.init) + $0 }
    }

    /// Nil for what is none.
    init?(_ bytes: [UInt8]) {
        guard bytes.count > 64 else { return nil }
        var rest = bytes[64...]
        var chain: [[UInt8]] = []
        while rest.count >= 2, chain.count < 5 {
            let length = rest.prefix(2).reduce(0) { $0 << 8 | Int($1) }
            guard length <= JournalAuthor.longestCertificate, rest.count >= 2 + length else { return nil }
            chain.append(Array(rest.dropFirst(2).prefix(length)))
            rest = rest.dropFirst(2 + length)
        }
        guard rest.isEmpty else { return nil }
        self.init(signature: Array(bytes[..<64]), chain: chain)
    }
}
