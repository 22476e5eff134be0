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
