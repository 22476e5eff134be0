/// Reads what the kernel says of routes (netlink(7), rtnetlink(7)); numbers are in this machine's order of bytes.
package struct NetlinkReader: Sendable {
    /// What a message of the kernel says.
    package enum Event: Hashable, Sendable {
        case route(RouteTable.Route)
        /// A route came or went, or an address or link did: the table is asked for again.
        case changed
        /// The end of what was asked for.
        case done
        /// The kernel refuses with this number of errno, or the bytes are no message of it.
        case failed(Int32)
    }

    /// Of `struct nlmsghdr`, `struct rtmsg` and `struct rtattr`, in bytes.
    private static let headerBytes = 16
    private static let routeBytes = 12
    private static let attributeBytes = 4

    private enum Kind {
        static let error: UInt16 = 2
        static let done: UInt16 = 3
        static let newRoute: UInt16 = 24
        static let addressesAndLinks: ClosedRange<UInt16> = 16...21
        static let deletedRoute: UInt16 = 25
    }

    /// What was asked for carries this number; what comes by itself carries another.
    private let asked: UInt32

    /// - Parameter asked: the number that the request carries, and every message that answers it.
    package init(asked: UInt32) {
        self.asked = asked
    }

    /// The request for all routes of all families: RTM_GETROUTE with NLM_F_REQUEST and NLM_F_DUMP.
    package var request: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(native: UInt32(Self.headerBytes + Self.routeBytes))
        bytes.append(native: UInt16(26))
        bytes.append(native: UInt16(0x301))
        bytes.append(native: asked)
        bytes.append(native: UInt32(0))
        return bytes + [UInt8](repeating: 0, count: Self.routeBytes)
    }

    /// The messages of one datagram.
    package func events(in datagram: [UInt8]) -> [Event] {
        var events: [Event] = []
        var start = 0
        while start < datagram.count {
            guard let length = datagram.native(UInt32.self, at: start).map({ Int($0) }), length >= Self.headerBytes,
                start + length <= datagram.count, let kind = datagram.native(UInt16.self, at: start + 4),
                let number = datagram.native(UInt32.self, at: start + 8)
            else { return events + [.failed(0)] }
            let body = Array(datagram[start + Self.headerBytes..<start + length])
            if let event = event(kind, isAsked: number == asked, body) { events.append(event) }
            start += (length + 3) & ~3
        }
        return events
    }

    private func event(_ kind: UInt16, isAsked: Bool, _ body: [UInt8]) -> Event? {
        switch kind {
        case Kind.done: return isAsked ? .done : nil
        case Kind.error:
            let number = body.native(Int32.self, at: 0) ?? 0
            return number == 0 ? nil : .failed(0 &- number)
        case Kind.newRoute where isAsked: return Self.route(body).map { .route($0) }
        case Kind.newRoute, Kind.deletedRoute, Kind.addressesAndLinks: return .changed
        default: return nil
        }
    }

    /// Nil for what leads nowhere: broadcast, multicast, unreachable, blackhole.
    private static func route(_ body: [UInt8]) -> RouteTable.Route? {
        guard body.count >= routeBytes else { return nil }
        let (family, prefixLength, type) = (body[0], Int(body[1]), body[7])
        // AF_INET and AF_INET6; RTN_UNICAST and RTN_LOCAL.
        guard family == 2 || family == 10, type == 1 || type == 2 else { return nil }
        var destination = [UInt8](repeating: 0, count: family == 2 ? 4 : 16)
        guard prefixLength <= destination.count * 8 else { return nil }
        var start = routeBytes
        while let length = body.native(UInt16.self, at: start).map({ Int($0) }), length >= attributeBytes,
            start + length <= body.count, let kind = body.native(UInt16.self, at: start + 2)
        {
            // RTA_DST
            if kind == 1, length == attributeBytes + destination.count {
                destination = Array(body[start + attributeBytes..<start + length])
            }
            start += (length + 3) & ~3
        }
        return RouteTable.Route(destination: destination, prefixLength: prefixLength, isOwn: type == 2)
    }
}

extension [UInt8] {
    fileprivate mutating func append(native value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value) { append(contentsOf: $0) }
    }

    fileprivate func native<Number: FixedWidthInteger>(_: Number.Type, at start: Int) -> Number? {
        guard start >= 0, start + MemoryLayout<Number>.size <= count else { return nil }
        return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: Number.self) }
    }
}
