import NIOCore
import Testing

@testable import Transport

@Suite("What an address at the other end is called")
struct RemoteNameTests {
    @Test(
        "As people write it, and as it is written for a peer to dial",
        arguments: [
            ("192.0.2.1", "192.0.2.1:7000"), ("2001:db8::1", "[2001:db8::1]:7000"),
            ("::ffff:192.0.2.1", "192.0.2.1:7000"), ("fe80::1", "[fe80::1]:7000"), ("::1", "[::1]:7000"),
        ])
    func text(address: String, expected: String) throws {
        #expect(RemoteName(try SocketAddress(ipAddress: address, port: 7000)).text == expected)
    }

    @Test("A link-local address says through which interface")
    func linkLocal() throws {
        let address = try SocketAddress.makeAddressResolvingHost("fe80::1%lo", port: 7000)
        #expect(RemoteName(address).text == "[fe80::1%lo]:7000")
    }
}
