import Testing

@testable import Discovery

@Suite struct `Names, TXT records and addresses` {
    @Test(arguments: [
        ("crew", "crew #2"), ("crew #2", "crew #3"), ("crew #9", "crew #10"), ("crew#2", "crew#2 #2"),
        ("#2", "#2 #2"), ("crew #x", "crew #x #2"),
    ])
    func `a taken name is followed by the next number`(name: String, next: String) {
        #expect(InstanceName.following(name) == next)
    }

    @Test func `names fit into 63 bytes and are cut between characters`() {
        let long = String(repeating: "ü", count: 40)
        #expect(InstanceName.fitted(long) == String(repeating: "ü", count: 31))
        #expect(InstanceName.following(long) == String(repeating: "ü", count: 30) + " #2")
        #expect(InstanceName.fitted("") == "muster")
    }

    @Test func `the advertisement says version, id and fleet, nothing else`() {
        let advertisement = Advertisement(
            instanceName: "crew", port: 1, protocolVersion: 1, id: "0123abcd", fleet: "f1")
        #expect(advertisement.txtRecord == Array("\u{3}v=1\u{B}id=0123abcd\u{8}fleet=f1".utf8))
    }

    @Test func `a TXT record from a stranger is read as far as it makes sense`() {
        let record = TXTRecord(bytes: Array("\u{0}\u{3}V=1\u{4}flag\u{2}=x\u{4}id=a\u{4}id=b\u{9}cut".utf8))
        #expect(record["v"] == "1")
        #expect(record["id"] == "a")
        #expect(record.entries.count == 2)
        #expect(TXTRecord(bytes: [4, 0x61, 0x3D, 0xFF, 0xFE]).entries.isEmpty, "not UTF-8")
    }

    @Test func `each address comes once, those of container bridges and the loopback last`() {
        var addresses = HostAddresses()
        addresses.add("127.0.0.1", interface: 1, interfaceName: "lo")
        addresses.add("172.17.0.1", interface: 5, interfaceName: "docker0")
        addresses.add("fe80::1", interface: 2, interfaceName: "eth0")
        addresses.add("fd00::1", interface: 2, interfaceName: "eth0")
        addresses.add("10.0.0.2", interface: 5, interfaceName: "docker0")
        addresses.add("10.0.0.2", interface: 2, interfaceName: "eth0")
        addresses.add("10.0.0.2", interface: 3, interfaceName: "wlan0")
        #expect(addresses.ranked == ["10.0.0.2", "fd00::1", "fe80::1%eth0", "172.17.0.1", "127.0.0.1"])
    }

    @Test func `an address that was heard twice goes with the second farewell`() {
        var addresses = HostAddresses()
        addresses.add("10.0.0.2", interface: 2, interfaceName: "eth0")
        addresses.add("10.0.0.2", interface: 2, interfaceName: "eth0")
        addresses.remove("10.0.0.2", interface: 2)
        #expect(addresses.ranked == ["10.0.0.2"])
        addresses.remove("10.0.0.2", interface: 2)
        addresses.remove("10.0.0.2", interface: 2)
        #expect(addresses.ranked == [])
    }
}
