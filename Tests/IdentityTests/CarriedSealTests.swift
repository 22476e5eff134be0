import CRDT
import Testing

@testable import Identity

@Suite("A carried file is read by one laptop, whole and in its order")
struct CarriedSealTests {
    private func file(_ pieces: [[UInt8]], to recipient: DevicePublicKey) throws -> [[UInt8]] {
        var sealer = try CarriedSealer(to: recipient)
        var file = [sealer.header]
        for (place, piece) in pieces.enumerated() {
            file.append(try sealer.seal(piece, isLast: place == pieces.count - 1))
        }
        return file
    }

    private func read(_ file: [[UInt8]], by key: DeviceKey) throws -> [[UInt8]] {
        var opener = CarriedOpener(key)
        var pieces: [[UInt8]] = []
        for bytes in file {
            opener.add(bytes)
            while let piece = try opener.next() { pieces.append(piece) }
        }
        try opener.finish()
        return pieces
    }

    private let pieces: [[UInt8]] = [[1, 2, 3], [], Array(repeating: 7, count: 70_000), [9]]

    @Test("What is encrypted to what is computed of the public key is read with what is computed of the secret")
    func agreement() throws {
        for _ in 0..<64 {
            let key = DeviceKey()
            #expect(try read(try file([[1]], to: key.publicKey), by: key) == [[1]])
        }
    }

    @Test("The base point of the one curve is that of the other, and no number is left where nothing would be secret")
    func field() {
        // RFC 7748 section 4.1: y = 4/5 and u = 9.
        let y = FieldElement25519(4) * FieldElement25519(5).inverse
        let u = (.one + y) * (.one - y).inverse
        #expect(u == FieldElement25519(9))
        #expect((FieldElement25519(3) - FieldElement25519(5)) + FieldElement25519(2) == FieldElement25519(0))
        #expect(FieldElement25519(littleEndian: Array(repeating: 0xFF, count: 32)) == FieldElement25519(18))
        // y = -1: the point of order two.
        let minusOne = (FieldElement25519(0) - .one).bytes
        if let point = DevicePublicKey(minusOne) { #expect(point.agreementKey == nil) }
    }

    @Test("It comes back in any pieces")
    func roundTrip() throws {
        let key = DeviceKey()
        let file = try file(pieces, to: key.publicKey)
        #expect(try read(file, by: key) == pieces)
        #expect(try read([file.flatMap(\.self)], by: key) == pieces)
        #expect(try read(file[0...2].flatMap(\.self).map { [$0] } + file[3...], by: key) == pieces)
    }

    @Test("Nobody else reads it, and is told whose it is")
    func forAnother() throws {
        let key = DeviceKey()
        let file = try file(pieces, to: key.publicKey)
        #expect(throws: CarriedFault.forAnother(key.publicKey.device)) { try read(file, by: DeviceKey()) }
    }

    @Test("A piece that is altered, left out, exchanged, of another file or added is found")
    func damage() throws {
        let key = DeviceKey()
        let whole = try file(pieces, to: key.publicKey)
        let other = try file(pieces, to: key.publicKey)
        for place in 1..<whole.count {
            var altered = whole
            altered[place][altered[place].count - 1] ^= 1
            #expect(throws: CarriedFault.damaged) { try read(altered, by: key) }
            altered = whole
            altered[place] = other[place]
            #expect(throws: CarriedFault.damaged) { try read(altered, by: key) }
            altered = whole
            altered.remove(at: place)
            #expect(throws: CarriedFault.self) { try read(altered, by: key) }
        }
        var exchanged = whole
        exchanged.swapAt(1, 2)
        #expect(throws: CarriedFault.damaged) { try read(exchanged, by: key) }
        #expect(throws: CarriedFault.damaged) { try read(whole + [[0, 0, 0, 17]], by: key) }
        // The flag that says it is the last is sealed with it.
        var unended = whole
        unended[1][0] |= 0x80
        #expect(throws: CarriedFault.damaged) { try read(unended, by: key) }
    }

    @Test("Wherever it ends too early, that is told")
    func truncated() throws {
        let key = DeviceKey()
        let bytes = try file([[1, 2, 3], [4]], to: key.publicKey).flatMap(\.self)
        for count in 0..<bytes.count {
            #expect(throws: CarriedFault.self, "\(count)") { try read([Array(bytes[..<count])], by: key) }
        }
        #expect(throws: CarriedFault.noCarriedFile) { try read([Array("a letter to my aunt".utf8)], by: key) }
        #expect(throws: CarriedFault.truncated) { try read([Array(bytes.dropLast())], by: key) }
    }

    @Test("A laptop signs the file that it has begun, and no other")
    func signature() throws {
        let (key, writer) = (DeviceKey(), DeviceKey())
        let sealer = try CarriedSealer(to: key.publicKey)
        var opener = CarriedOpener(key)
        opener.add(sealer.header)
        #expect(try opener.next() == nil)
        let signature = sealer.signature(by: writer)
        #expect(opener.isSigned(signature, by: writer.publicKey))
        #expect(!opener.isSigned(signature, by: key.publicKey))
        #expect(!opener.isSigned(try CarriedSealer(to: key.publicKey).signature(by: writer), by: writer.publicKey))
    }
}
