import CRDT
import Testing

@testable import Identity

@Suite("Device keys")
struct DeviceKeyTests {
    /// The third test of RFC 8032 section 7.1; the id is what `sha256sum` says of the public key.
    @Test("A key has the public half that the standard says, and its laptop's name is the hash of that")
    func knownKey() throws {
        let secret = try #require(bytes("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7"))
        let key = try #require(DeviceKey(secret: secret))
        #expect(key.secret == secret)
        #expect(
            key.publicKey.bytes.hexadecimalDigits
                == "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025")
        #expect(
            key.publicKey.device.description == "dac073e0123bdea59dd9b3bda9cf6037f63aca82627d7abcd5c4ac29dd74003e")
        #expect(DevicePublicKey(key.publicKey.bytes) == key.publicKey)
    }

    @Test("Each new key is another one")
    func freshKeys() {
        #expect(Set((0..<20).map { _ in DeviceKey().publicKey.device }).count == 20)
    }

    @Test("What has not 32 bytes is no key", arguments: [0, 31, 33, 64])
    func wrongLength(count: Int) {
        #expect(DeviceKey(secret: [UInt8](repeating: 7, count: count)) == nil)
        #expect(DevicePublicKey([UInt8](repeating: 7, count: count)) == nil)
    }

    /// The key of RFC 8410 section 10.3.
    @Test("A key in a file is the one that the standard shows")
    func pem() throws {
        let text = """
            -----BEGIN PRIVATE KEY-----
            MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
            -----END PRIVATE KEY-----
            """
        let key = try #require(DeviceKey(pem: text))
        #expect(
            key.publicKey.bytes.hexadecimalDigits
                == "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1")
        #expect(key.pem == text)
        #expect(DeviceKey(pem: "") == nil)
        #expect(DeviceKey(pem: text.replacing("MC4C", with: "MC4D")) == nil)
        #expect(DeviceKey(pem: text.replacing("PRIVATE", with: "EC PRIVATE")) == nil)
    }

    private func bytes(_ digits: String) -> [UInt8]? {
        let pairs = stride(from: 0, to: digits.count, by: 2).map { digits.dropFirst($0).prefix(2) }
        let bytes = pairs.compactMap { UInt8($0, radix: 16) }
        return bytes.count == pairs.count ? bytes : nil
    }
}
