import Testing

@testable import ServerChannel

/// The bytes were recorded from a Linux 6 kernel (little-endian) in a network namespace.
@Suite("What the kernel says of routes")
struct RouteTests {
    private static let loopback =
        "3c0000001800020007000000c72c000002080000ff02fe020000000008000f00ff000000080001007f000000"
        + "080007007f0000010800040001000000"
    private static let broadcast =
        "3c0000001800020007000000c72c000002200000ff02fd030000000008000f00ff000000080001007fffffff"
        + "080007007f0000010800040001000000"
    private static let defaultRoute =
        "2c0000001800020007000000c06d000002000000fe03fd010000000008000f00fe0000000800040001000000"
    private static let sixth =
        "740000001800020007000000c72c00000a800000ff0200020000000008000f00ff0000001400010000000000"
        + "0000000000000000000000010800060000000000080004000100000024000c00000000000000000000000000"
        + "00000000000000000000000000000000000000000500140000000000"
    private static let done = "140000000300020007000000c72c000000000000"
    private static let deleted =
        "2c0000001900000068ef016b1c6e000002000000fe03fd010000000008000f00fe0000000800040001000000"

    private static func bytes(_ text: String) -> [UInt8] {
        let digits = Array(text.utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
        }
    }

    private static func table(_ messages: String...) -> RouteTable {
        var table = RouteTable()
        for case .route(let route) in NetlinkReader(asked: 7).events(in: bytes(messages.joined())) {
            table.routes.insert(route)
        }
        return table
    }

    @Test("A dump gives the routes that lead somewhere, and its end")
    func dump() {
        let datagram = Self.loopback + Self.broadcast + Self.sixth + Self.done
        let events = NetlinkReader(asked: 7).events(in: Self.bytes(datagram))
        #expect(
            events == [
                .route(RouteTable.Route(destination: [127, 0, 0, 0], prefixLength: 8, isOwn: true)),
                .route(
                    RouteTable.Route(
                        destination: [UInt8](repeating: 0, count: 15) + [1], prefixLength: 128, isOwn: true)), .done,
            ])
    }

    @Test("An address that has gone is missed, a further one is not, nor a way to somewhere else")
    func lostAddress() {
        let own = RouteTable.Route(destination: [10, 88, 0, 2], prefixLength: 32, isOwn: true)
        let other = RouteTable.Route(destination: [10, 88, 0, 3], prefixLength: 32, isOwn: true)
        let way = RouteTable.Route(destination: [0, 0, 0, 0], prefixLength: 0)
        var (former, table) = (RouteTable(), RouteTable())
        former.routes = [own, way]
        table.routes = [own, other]
        #expect(!table.lacksAddress(of: former, towards: "office"))
        table.routes = [other, way]
        #expect(table.lacksAddress(of: former, towards: "office"))
        #expect(table.lacksAddress(of: former, towards: "10.88.0.1"))
        #expect(!table.lacksAddress(of: former, towards: "fd77::1"), "nobody speaks to it from there")
    }

    @Test("What is of one link alone is missed by whoever speaks to a host on that link")
    func lostLinkLocalAddress() {
        let sixth = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [2]
        var former = RouteTable()
        former.routes = [
            RouteTable.Route(destination: sixth, prefixLength: 128, isOwn: true),
            RouteTable.Route(destination: [169, 254, 7, 1], prefixLength: 32, isOwn: true),
        ]
        for host in ["office", "10.88.0.1", "fd77::1"] {
            #expect(!RouteTable().lacksAddress(of: former, towards: host), "\(host)")
        }
        for host in ["fe80::1%eth0", "169.254.0.1"] {
            #expect(RouteTable().lacksAddress(of: former, towards: host), "\(host)")
        }
    }

    @Test("What comes by itself says that something has changed")
    func news() {
        #expect(NetlinkReader(asked: 7).events(in: Self.bytes(Self.deleted)) == [.changed])
        #expect(NetlinkReader(asked: 8).events(in: Self.bytes(Self.defaultRoute)) == [.changed])
        #expect(NetlinkReader(asked: 8).events(in: Self.bytes(Self.done)) == [])
    }

    @Test("Broken bytes are no message, wherever they break")
    func broken() {
        let whole = Self.bytes(Self.loopback + Self.sixth + Self.done)
        for count in 0..<whole.count { _ = NetlinkReader(asked: 7).events(in: Array(whole[..<count])) }
        for index in whole.indices {
            var damaged = whole
            damaged[index] ^= 0xFF
            _ = NetlinkReader(asked: 7).events(in: damaged)
        }
        #expect(NetlinkReader(asked: 7).events(in: [1, 2, 3]) == [.failed(0)])
    }

    @Test("The request is what rtnetlink(7) asks for")
    func request() {
        #expect(NetlinkReader(asked: 7).request.count == 28)
        #expect(NetlinkReader(asked: 7).request.prefix(12) == [28, 0, 0, 0, 26, 0, 1, 3, 7, 0, 0, 0])
    }

    @Test("A numeric server needs a route that covers it, a name needs a default route")
    func reaching() {
        let alone = Self.table(Self.loopback)
        #expect(alone.reaches("127.0.0.1") && alone.reaches("localhost"))
        #expect(!alone.reaches("10.0.0.5") && !alone.reaches("muster.example"))
        let online = Self.table(Self.loopback, Self.defaultRoute)
        #expect(online.reaches("10.0.0.5") && online.reaches("muster.example"))
        #expect(ServerAddress("https://muster.example:8443/api")?.host == "muster.example")
        #expect(ServerAddress("http://10.0.0.5")?.host == "10.0.0.5")
        #expect(ServerAddress("http://[::1]:80")?.host == "::1")
    }

    @Test("A server with an IPv6 address needs a route that covers it, and no default route")
    func reachingSixth() {
        var table = RouteTable()
        table.routes = [
            RouteTable.Route(destination: [0xfd, 0x77] + [UInt8](repeating: 0, count: 14), prefixLength: 64),
            RouteTable.Route(destination: [0xfe, 0x80] + [UInt8](repeating: 0, count: 14), prefixLength: 64),
        ]
        #expect(table.reaches("fd77::1") && table.reaches("fe80::1%eth0"))
        #expect(!table.reaches("fd78::1") && !table.reaches("10.0.0.5") && !table.reaches("muster.example"))
    }

    @Test(
        "A server's port is the one that is named, else its scheme's; a name is asked for, an address is none",
        arguments: [
            ("https://muster.example:8443/api", 8443, "muster.example"),
            ("https://muster.example", 443, "muster.example"),
            ("HTTPS://muster.example/a:b", 443, "muster.example"), ("http://office", 80, "office"),
            ("https://10.0.0.5", 443, nil), ("https://10.0.0.5:1", 1, nil), ("https://[fe80::1]", 443, nil),
            ("https://[::1]:7480/x", 7480, nil), ("https://office:7480/", 7480, "office"),
        ] as [(String, Int, String?)])
    func place(text: String, port: Int, name: String?) throws {
        let address = try #require(ServerAddress(text))
        #expect(address.port == port && address.name == name)
    }
}
