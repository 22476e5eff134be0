import Testing

@testable import Discovery

@Suite struct `Avahi comes and goes` {
    private func isUnavailable(_ event: DiscoveryEvent) -> Bool {
        if case .unavailable = event { true } else { false }
    }

    @Test func `absent at the start is said once, and coming later is noticed`() throws {
        var avahi = Avahi()
        avahi.refusal = ErrorCode.unknown
        avahi.start()
        var delays: [Int] = []
        for _ in 0..<6 { delays.append(try avahi.fireAlarm()) }
        #expect(delays == [500, 1000, 2000, 4000, 5000, 5000])
        let said = avahi.newEvents()
        #expect(said.count == 1)
        #expect(said.allSatisfy(isUnavailable))

        avahi.refusal = nil
        try avahi.fireAlarm()
        #expect(avahi.newEvents() == [.available])
        #expect(Set(avahi.open.values) == [.browse, .advertise(instanceName: "crew")])
    }

    @Test func `where the library is not installed, that is what has to be done`() {
        var avahi = Avahi()
        avahi.refusal = ErrorCode.noLibrary
        avahi.start()
        guard case .unavailable(let outage)? = avahi.newEvents().first else { return #expect(Bool(false)) }
        #expect(outage.reason.contains("not installed") && outage.remedy.contains("muster peers add"))
        #expect(outage.repair.contains("libavahi-compat-libdnssd1"))
    }

    @Test func `a daemon that dies takes all with it, and its successor brings all back`() throws {
        var avahi = Avahi()
        avahi.start()
        try avahi.appear("ben")
        try avahi.resolve("ben", id: "bbbb")
        try avahi.addAddress("10.0.0.2")
        _ = avahi.newEvents()
        let old = Array(avahi.open.keys)

        try avahi.answer(.failed(code: ErrorCode.unknown)) { $0 == .browse }
        for id in old { avahi.answerLate(.failed(code: ErrorCode.unknown), to: id) }
        let said = avahi.newEvents()
        #expect(said.first == .lost(instanceName: "ben"))
        #expect(said.count == 2)
        #expect(said.last.map(isUnavailable) == true)
        #expect(avahi.open.isEmpty)

        #expect(try avahi.fireAlarm() == 500)
        try avahi.appear("ben")
        try avahi.resolve("ben", id: "bbbb")
        try avahi.addAddress("10.0.0.2")
        #expect(avahi.newEvents() == [.available, .found(.ben(at: ["10.0.0.2"]))])
    }

    @Test func `a registration that dies first is put again only when avahi is back`() throws {
        var avahi = Avahi()
        avahi.start()
        try avahi.answer(.failed(code: ErrorCode.unknown)) { $0 == .advertise(instanceName: "crew") }
        try avahi.answer(.failed(code: ErrorCode.unknown)) { $0 == .browse }
        try avahi.fireAlarm()
        #expect(avahi.open.isEmpty, "there is nobody to register with yet")
        try avahi.fireAlarm()
        #expect(Set(avahi.open.values) == [.browse, .advertise(instanceName: "crew")])
    }

    @Test func `where publishing is switched off, browsing goes on`() throws {
        var avahi = Avahi()
        avahi.start()
        for _ in 0..<10 {
            try avahi.answer(.failed(code: ErrorCode.unknown)) { $0 == .advertise(instanceName: "crew") }
            try avahi.fireAlarm()
        }
        try avahi.appear("ben")
        try avahi.resolve("ben", id: "bbbb")
        try avahi.addAddress("10.0.0.2")
        #expect(avahi.newEvents() == [.available, .found(.ben(at: ["10.0.0.2"]))])
    }

    @Test func `the name that avahi chose is learned, and asked for again after a restart`() throws {
        var avahi = Avahi()
        avahi.start()
        try avahi.answer(.advertised(instanceName: "crew #2")) { $0 == .advertise(instanceName: "crew") }
        #expect(avahi.newEvents() == [.available, .advertised(instanceName: "crew #2")])
        try avahi.answer(.failed(code: ErrorCode.unknown)) { $0 == .browse }
        try avahi.fireAlarm()
        #expect(avahi.open.values.contains(.advertise(instanceName: "crew #2")))
    }

    @Test func `a name that another daemon on this laptop holds is left to it`() {
        var avahi = Avahi()
        avahi.takenNames = ["crew", "crew #2"]
        avahi.start()
        #expect(Set(avahi.open.values) == [.browse, .advertise(instanceName: "crew #3")])
    }

    @Test func `when every name is taken, the search pauses`() {
        var avahi = Avahi()
        avahi.takenNames = Set((2...99).map { "crew #\($0)" } + ["crew"])
        avahi.start()
        #expect(avahi.alarms.map(\.alarm) == [.advertise])
    }
}
