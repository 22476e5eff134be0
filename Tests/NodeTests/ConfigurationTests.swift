import Foundation
import Node
import Replication
import ServerChannel
import Testing

@Suite("Configuration")
struct ConfigurationTests {
    @Test("Flags win over the environment, that over the file, that over the defaults")
    func precedence() async throws {
        let file = NSTemporaryDirectory() + "muster-\(UUID().uuidString).json"
        let json = #"{"listen": "127.0.0.1:1", "socket": "/file", "peers": ["10.0.0.1:7"], "state-dir": "/file"}"#
        try json.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let configuration = try await NodeConfiguration.read(
            flags: [.socket: ["/flag"]], environment: ["MUSTER_SOCKET": "/env", "MUSTER_STATE_DIR": "/env"], file: file)
        #expect(configuration.socket == "/flag")
        #expect(configuration.stateDirectory == "/env")
        #expect(configuration.listen.description == "127.0.0.1:1")
        #expect(configuration.peers.map(\.description) == ["10.0.0.1:7"])
        #expect(configuration.usesDiscovery)
    }

    @Test("A laptop may listen to a whole network: who may talk to it is the fleet's matter")
    func listeningToAll() async throws {
        let everywhere = try await NodeConfiguration.read(
            flags: [.listen: ["0.0.0.0:7473"]], environment: [:], file: nil)
        #expect(!everywhere.isLoopbackOnly)
    }

    @Test(
        "A wrong address is named with an example", arguments: ["nonsense", "host", "host:99999", "1:2:3", ":7", "h:0"])
    func wrongAddress(text: String) async throws {
        let error = await #expect(throws: ConfigurationError.self) {
            try await NodeConfiguration.read(flags: [.peers: [text]], environment: [:], file: nil)
        }
        #expect(error?.description.contains("HOST:PORT") == true)
    }

    @Test("The server is a URL from any of the sources, and a wrong one is named with an example")
    func server() async throws {
        let configuration = try await NodeConfiguration.read(
            flags: [:], environment: ["MUSTER_SERVER": "https://127.0.0.1:8080/"], file: nil)
        #expect(configuration.server?.description == "https://127.0.0.1:8080")
        let error = await #expect(throws: ConfigurationError.self) {
            try await NodeConfiguration.read(flags: [.server: ["office"]], environment: [:], file: nil)
        }
        #expect(error?.description.contains("https://") == true)
    }

    @Test("Nothing is said to a server unencrypted", arguments: ["http://10.0.0.5:7480", "HTTP://localhost"])
    func serverInTheClear(server: String) async throws {
        let error = await #expect(throws: ConfigurationError.self) {
            try await NodeConfiguration.read(flags: [.server: [server]], environment: [:], file: nil)
        }
        #expect(error?.description.contains("https://") == true)
    }

    @Test("The interval is a number of seconds within a day", arguments: ["0", "86401", "-3", "1.5", "often", ""])
    func serverInterval(text: String) async throws {
        let error = await #expect(throws: ConfigurationError.self) {
            try await NodeConfiguration.read(flags: [.serverInterval: [text]], environment: [:], file: nil)
        }
        #expect(error?.description.contains("1 to 86400") == true)
        let configuration = try await NodeConfiguration.read(
            flags: [.serverInterval: ["60"]], environment: [:], file: nil)
        #expect(configuration.serverInterval == 60)
    }

    @Test("A missing or broken file is named")
    func brokenFile() async {
        await #expect(throws: ConfigurationError.self) {
            try await NodeConfiguration.read(flags: [:], environment: [:], file: "/nowhere/muster.json")
        }
    }
}
