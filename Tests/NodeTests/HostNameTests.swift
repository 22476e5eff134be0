import Replication
import Testing

@testable import Node

@Suite("The name by which laptops are found")
struct HostNameTests {
    @Test(
        "A long name is the same everywhere, and short enough for a peer",
        arguments: [
            "anna", "moving-company-warehouse-north-laptop-017-of-the-second-shift",
            "花" + String(repeating: "é", count: 90),
        ])
    func shortened(name: String) {
        let short = name.shortened(toBytes: ProtocolLimits.nameBytes)
        #expect(short.utf8.count <= ProtocolLimits.nameBytes && name.hasPrefix(short))
        #expect(short.utf8.count > ProtocolLimits.nameBytes - 4 || short == name)
    }
}
