import Testing

@testable import Discovery

@Suite struct `Services of other laptops` {
    /// Avahi is there, and ben's service is found.
    private func avahiWithBen() throws -> Avahi {
        var avahi = Avahi()
        avahi.start()
        try avahi.appear("ben")
        try avahi.resolve("ben", id: "bbbb")
        try avahi.addAddress("10.0.0.2")
        #expect(avahi.newEvents() == [.available, .found(.ben(at: ["10.0.0.2"]))])
        return avahi
    }

    @Test func `a service is found when its name, its port and an address are known`() throws {
        var avahi = Avahi()
        avahi.start()
        try avahi.appear("ben")
        try avahi.resolve("ben", id: "bbbb")
        #expect(avahi.newEvents() == [.available])
        try avahi.addAddress("10.0.0.2")
        #expect(avahi.newEvents() == [.found(.ben(at: ["10.0.0.2"]))])
    }

    @Test func `who announces nothing finds it, too`() throws {
        var avahi = Avahi.looking
        avahi.start()
        #expect(Set(avahi.open.values) == [.browse])
        try avahi.appear("ben")
        try avahi.resolve("ben", id: "bbbb")
        try avahi.addAddress("10.0.0.2")
        #expect(avahi.newEvents() == [.available, .found(.ben(at: ["10.0.0.2"]))])
        try avahi.answer(.failed(code: ErrorCode.unknown)) { $0 == .browse }
        try avahi.fireAlarm()
        #expect(Set(avahi.open.values) == [.browse], "avahi has come back, and is told nothing")
    }

    @Test func `the first report waits a moment for an IPv4 address`() throws {
        var avahi = Avahi()
        avahi.start()
        try avahi.appear("ben")
        try avahi.resolve("ben", id: "bbbb")
        try avahi.addAddress("fe80::1")
        #expect(avahi.newEvents() == [.available])
        try avahi.addAddress("10.0.0.2")
        #expect(avahi.newEvents() == [.found(.ben(at: ["10.0.0.2", "fe80::1%eth0"]))])
        try avahi.fireAlarm()
        #expect(avahi.newEvents() == [])
    }

    @Test func `a service without an IPv4 address is found a moment later`() throws {
        var avahi = Avahi()
        avahi.start()
        try avahi.appear("ben")
        try avahi.resolve("ben", id: "bbbb")
        try avahi.addAddress("fe80::1")
        #expect(try avahi.fireAlarm() == DiscoveryMachine.familyDelayMilliseconds)
        #expect(avahi.newEvents() == [.available, .found(.ben(at: ["fe80::1%eth0"]))])
    }

    @Test func `a service that is sighted over IPv4 and IPv6 is lost when both have gone`() throws {
        var avahi = try avahiWithBen()
        try avahi.appear("ben")
        try avahi.disappear("ben")
        #expect(avahi.newEvents() == [])
        try avahi.disappear("ben")
        #expect(avahi.newEvents() == [.lost(instanceName: "ben")])
        #expect(Set(avahi.open.values) == [.browse, .advertise(instanceName: "crew")], "all else is closed")
    }

    @Test func `a service is resolved on the loopback only while it is sighted nowhere else`() throws {
        var avahi = Avahi()
        avahi.start()
        let resolved = { (interface: UInt32) in
            Query.resolve(instanceName: "ben", domain: "local.", interface: interface)
        }
        let asked = { (avahi: Avahi) in avahi.open.values.filter { if case .resolve = $0 { true } else { false } } }
        try avahi.appear("ben", on: 1)
        #expect(asked(avahi) == [resolved(1)])
        try avahi.appear("ben", on: 3)
        #expect(asked(avahi) == [resolved(3)])
        try avahi.appear("ben", on: 2)
        try avahi.appear("ben", on: 1)
        #expect(asked(avahi) == [resolved(3)], "what goes on elsewhere is left alone")
        try avahi.disappear("ben", on: 3)
        #expect(asked(avahi) == [resolved(2)])
        try avahi.disappear("ben", on: 2)
        #expect(asked(avahi) == [resolved(1)])
    }

    @Test func `a service that stays on another interface is resolved there and not lost`() throws {
        var avahi = try avahiWithBen()
        try avahi.appear("ben", on: 3)
        try avahi.disappear("ben", on: 2)
        #expect(avahi.newEvents() == [])
        #expect(avahi.open.values.contains(.resolve(instanceName: "ben", domain: "local.", interface: 3)))
    }

    @Test func `a service that was never found is not lost`() throws {
        var avahi = Avahi()
        avahi.start()
        try avahi.appear("ben")
        try avahi.disappear("ben")
        #expect(avahi.newEvents() == [.available])
    }

    @Test func `a new address is told, and the time without any is no loss`() throws {
        var avahi = try avahiWithBen()
        try avahi.removeAddress("10.0.0.2")
        #expect(avahi.newEvents() == [])
        try avahi.addAddress("10.0.0.9")
        #expect(avahi.newEvents() == [.found(.ben(at: ["10.0.0.9"]))])
    }

    @Test func `the same answer again is not told again`() throws {
        var avahi = try avahiWithBen()
        try avahi.resolve("ben", id: "bbbb")
        try avahi.addAddress("10.0.0.2")
        #expect(avahi.newEvents() == [])
    }

    @Test func `a new port is told`() throws {
        var avahi = try avahiWithBen()
        try avahi.resolve("ben", id: "bbbb", port: 9)
        #expect(avahi.newEvents() == [.found(.ben(at: ["10.0.0.2"], port: 9))])
    }

    @Test func `a host that was renamed is followed`() throws {
        var avahi = try avahiWithBen()
        try avahi.resolve("ben", id: "bbbb", host: "ben-2.local.")
        #expect(!avahi.open.values.contains(.addresses(host: "ben.local.", family: .ipv4)))
        try avahi.addAddress("10.0.0.2", to: "ben-2.local.")
        #expect(avahi.newEvents() == [.found(.ben(at: ["10.0.0.2"], host: "ben-2.local."))])
    }

    @Test func `a name that moves to another device is lost and found`() throws {
        var avahi = try avahiWithBen()
        try avahi.resolve("ben", id: "cccc")
        #expect(avahi.newEvents() == [.lost(instanceName: "ben"), .found(.ben(at: ["10.0.0.2"], id: "cccc"))])
    }

    @Test func `our own service is never reported, whatever it is called`() throws {
        var avahi = Avahi(id: "ours")
        avahi.start()
        try avahi.appear("crew #2")
        try avahi.resolve("crew #2", id: "ours")
        #expect(avahi.newEvents() == [.available])
        #expect(!avahi.open.values.contains { if case .addresses = $0 { true } else { false } })
    }

    @Test func `a name that becomes ours is lost`() throws {
        var avahi = try avahiWithBen()
        try avahi.resolve("ben", id: "ours")
        #expect(avahi.newEvents() == [.lost(instanceName: "ben")])
    }

    @Test(arguments: [[], [3, 1], Array("\u{4}v=xx\u{5}id=bb".utf8), Array("\u{3}v=1\u{3}id=".utf8)])
    func `a service whose TXT record makes no sense is ignored`(txtRecord: [UInt8]) throws {
        var avahi = Avahi()
        avahi.start()
        try avahi.appear("ben")
        try avahi.answer(.resolved(host: "ben.local.", port: 1, txtRecord: txtRecord)) {
            if case .resolve = $0 { true } else { false }
        }
        #expect(avahi.newEvents() == [.available])
        #expect(avahi.machine.hosts.isEmpty)
    }

    @Test func `two services on one host share the questions about its addresses`() throws {
        var avahi = try avahiWithBen()
        try avahi.appear("ben #2")
        try avahi.resolve("ben #2", id: "dddd", port: 2)
        #expect(avahi.newEvents().count == 1)
        try avahi.disappear("ben")
        try avahi.addAddress("10.0.0.3")
        #expect(avahi.newEvents().count == 2, "ben is lost, the other service has an address more")
    }

    @Test func `resolving that fails is tried again while the service is sighted, ever less often`() throws {
        var avahi = Avahi()
        avahi.start()
        try avahi.appear("ben")
        var delays: [Int] = []
        for _ in 0..<6 {
            try avahi.answer(.failed(code: ErrorCode.unknown)) { if case .resolve = $0 { true } else { false } }
            delays.append(try avahi.fireAlarm())
        }
        #expect(delays == [500, 1000, 2000, 4000, 5000, 5000])
        try avahi.resolve("ben", id: "bbbb")
        try avahi.addAddress("10.0.0.2")
        #expect(avahi.newEvents() == [.available, .found(.ben(at: ["10.0.0.2"]))])
    }

    @Test func `addresses are asked for again when that question has died`() throws {
        var avahi = try avahiWithBen()
        try avahi.answer(.failed(code: ErrorCode.unknown)) { $0 == .addresses(host: "ben.local.", family: .ipv4) }
        try avahi.fireAlarm()
        try avahi.addAddress("10.0.0.2")
        try avahi.removeAddress("10.0.0.2")
        try avahi.addAddress("10.0.0.3")
        #expect(avahi.newEvents() == [.found(.ben(at: ["10.0.0.3"]))])
    }

    @Test func `a warehouse full of laptops is resolved in turn`() throws {
        var avahi = Avahi()
        avahi.start()
        for number in 100..<200 { try avahi.appear("laptop \(number)") }
        #expect(avahi.open.count == DiscoveryMachine.mostResolved + 2)
        try avahi.disappear("laptop 100")
        #expect(avahi.open.count == DiscoveryMachine.mostResolved + 2)
        #expect(avahi.open.values.contains(.resolve(instanceName: "laptop 164", domain: "local.", interface: 2)))
    }
}
