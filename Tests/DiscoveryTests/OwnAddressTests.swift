import Testing

@testable import Discovery

extension OwnAddress {
    static let wired = OwnAddress(interface: 2, bytes: [10, 0, 0, 1])
    static let wireless = OwnAddress(interface: 3, bytes: [10, 0, 0, 1])
    static let unique = OwnAddress(interface: 2, bytes: [0xFD, 0x77] + Array(repeating: 0, count: 13) + [1])
    static let linkLocal = OwnAddress(interface: 2, bytes: [0xFE, 0x80] + Array(repeating: 0, count: 13) + [1])
}

@Suite struct `Addresses of our own` {
    private let everything: Set<Query> = [
        .browse, .advertise(instanceName: "crew"), .publish(.wired), .publish(.wireless),
    ]

    @Test func `are published with the service, and before it`() throws {
        var avahi = Avahi()
        avahi.network(has: .wired, .wireless)
        #expect(avahi.open.isEmpty, "there is no avahi yet")
        avahi.start()
        #expect(Set(avahi.open.values) == everything)
        #expect(avahi.open[try #require(avahi.open.keys.max())] == .advertise(instanceName: "crew"))
    }

    @Test func `come and go, and nothing else is touched`() throws {
        var avahi = Avahi()
        avahi.network(has: .wired)
        avahi.start()
        let before = avahi.open
        avahi.network(has: .wired, .wireless)
        #expect(Set(avahi.open.values) == everything)
        #expect(before.allSatisfy { avahi.open[$0.key] == $0.value }, "what was open stays open")
        avahi.network(has: .wired)
        #expect(avahi.open == before)
        avahi.network(has: .wireless)
        #expect(Set(avahi.open.values) == everything.subtracting([.publish(.wired)]))
    }

    @Test func `are published again when avahi comes back, those of then`() throws {
        var avahi = Avahi()
        avahi.network(has: .wired)
        avahi.start()
        try avahi.answer(.failed(code: ErrorCode.unknown)) { $0 == .publish(.wired) }
        try avahi.answer(.failed(code: ErrorCode.unknown)) { $0 == .browse }
        #expect(avahi.open.isEmpty)
        avahi.network(has: .wireless)
        #expect(avahi.open.isEmpty, "there is nobody to tell")
        while !avahi.alarms.isEmpty { try avahi.fireAlarm() }
        #expect(Set(avahi.open.values) == everything.subtracting([.publish(.wired)]))
    }

    @Test func `that avahi refuses are tried again, all with one alarm, ever less often`() throws {
        var avahi = Avahi()
        avahi.network(has: .wired, .wireless, .unique)
        avahi.start()
        var delays: [Int] = []
        for _ in 0..<6 {
            for address in [OwnAddress.wired, .wireless, .unique] {
                try avahi.answer(.failed(code: -1)) { $0 == .publish(address) }
            }
            #expect(avahi.alarms.count == 1)
            delays.append(try avahi.fireAlarm())
        }
        #expect(delays == [500, 1000, 2000, 4000, 5000, 5000])
        #expect(Set(avahi.open.values) == everything.union([.publish(.unique)]))
    }

    @Test func `are nobody's business where nothing is announced`() {
        var avahi = Avahi.looking
        avahi.network(has: .wired)
        avahi.start()
        #expect(Set(avahi.open.values) == [.browse])
    }

    @Test func `a link-local address is told only where there is no other of IPv6`() {
        #expect(OwnAddress.told(of: [.wired, .linkLocal]) == [.wired, .linkLocal])
        #expect(OwnAddress.told(of: [.wired, .linkLocal, .unique]) == [.wired, .unique])
        let elsewhere = OwnAddress(interface: 3, bytes: OwnAddress.linkLocal.bytes)
        #expect(OwnAddress.told(of: [.unique, .linkLocal, elsewhere]) == [.unique, elsewhere])
    }

    @Test func `of an interface with very many the same ones are told, IPv4 among them`() {
        let many = (0..<40).map { OwnAddress(interface: 2, bytes: OwnAddress.unique.bytes.dropLast() + [$0]) }
        let told = OwnAddress.told(of: many.shuffled() + [.wired, .wireless])
        #expect(told == OwnAddress.told(of: [.wireless, .wired] + many))
        #expect(told.count == OwnAddress.mostPerInterface + 1 && told.isSuperset(of: [.wired, .wireless]))
    }

    @Test func `of this machine have an interface, and the loopback's are among them`() throws {
        let all = try #require(OwnAddress.all)
        #expect(all.allSatisfy { $0.interface != 0 && [4, 16].contains($0.bytes.count) })
        #expect(all.contains { $0.bytes == [127, 0, 0, 1] }, "avahi resolves what it shows there only there")
    }

    @Test
    func `that are new wait after a refusal, so that a network that changes all the time is no way round the pause`()
        throws
    {
        var avahi = Avahi()
        avahi.network(has: .wired)
        avahi.start()
        try avahi.answer(.failed(code: -1)) { $0 == .publish(.wired) }
        for _ in 0..<3 {
            avahi.network(has: .wired, .wireless)
            #expect(Set(avahi.open.values) == [.browse, .advertise(instanceName: "crew")])
            avahi.network(has: .wired)
        }
        avahi.network(has: .wired, .wireless)
        try avahi.fireAlarm()
        #expect(Set(avahi.open.values) == everything)
    }
}
