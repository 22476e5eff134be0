import Foundation
import HTTPCoding
import LocalAPI
import LocalAPIServer
import Replication
import ServerChannel
import Testing

@testable import Node

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

    @Test(
        "A value that cannot be used is refused where it stands: in the file, by its variable or by its flag",
        arguments: [
            (NodeConfiguration.Key.listen, #""nonsense""#, "HOST:PORT"), (.listen, #""127.0.0.1:99999""#, "HOST:PORT"),
            (.server, #""nonsense""#, "https://"), (.server, #""http://office:7480""#, "https://"),
            (.serverInterval, "0", "1 to 86400"), (.logLevel, #""loud""#, "use one of trace, debug"),
            (.readerGroup, #""office""#, "reader-socket"), (.metrics, #""0""#, "for example 9473"),
            (.metrics, #""10.0.0.5""#, "HOST:PORT"), (.metrics, #"":99999""#, "HOST:PORT"),
            (.readerSocket, #""/run/muster/muster.sock""#, "another path"),
            (.listen, #""a b:80""#, "HOST:PORT"), (.listen, #""999.0.0.1:80""#, "HOST:PORT"),
            (.listen, #""127.0.0.1:74800""#, "HOST:PORT"), (.listen, #""[office]:80""#, "HOST:PORT"),
            (.metrics, #""a b:80""#, "HOST:PORT"), (.metrics, #""10.1:80""#, "HOST:PORT"),
            (.server, #""https://office:74800""#, "https://"), (.server, #""https://999.0.0.1:80""#, "https://"),
            (.stateDirectory, #""~/muster""#, "write the whole path"),
            (.socket, #""~/m.sock""#, "write the whole path"),
            (.readerSocket, #""~""#, "write the whole path"),
            (.stateDirectory, #""""#, "is empty"), (.hostName, #""""#, "is empty"), (.socketGroup, #""""#, "is empty"),
        ])
    func wrongValue(key: NodeConfiguration.Key, json: String, remedy: String) async throws {
        let inFile = try await refusal(file: #"{"\#(key.rawValue)": \#(json)}"#)
        #expect(inFile.hasPrefix("'\(key.rawValue)' in /") && inFile.contains(remedy), "\(inFile)")
        let value = json.filter { $0 != "\"" }
        let inVariable = try await refusal(environment: [key.variable: value])
        #expect(inVariable.hasPrefix(key.variable) && inVariable.contains(remedy), "\(inVariable)")
        let atFlag = await #expect(throws: ConfigurationError.self) {
            try await NodeConfiguration.read(flags: [key: [value]], environment: [key.variable: "x"], file: nil)
        }
        #expect(atFlag?.description.hasPrefix("--\(key.rawValue)") == true, "\(atFlag?.description ?? "")")
    }

    @Test("A port alone is this machine's, and another address has to be written out")
    func metrics() async throws {
        func read(_ text: String) async throws -> NodeConfiguration {
            try await NodeConfiguration.read(flags: [.metrics: [text]], environment: [:], file: nil)
        }
        #expect(try await NodeConfiguration.read(flags: [:], environment: [:], file: nil).metrics == nil)
        for text in ["9473", ":9473", "localhost:9473"] {
            let configuration = try await read(text)
            #expect(configuration.metrics == MetricsAddress(host: "localhost", port: 9473))
            // What is in force can be given again.
            let shown = configuration.settings.first { $0.name == "metrics" }?.value ?? ""
            #expect(try await read(shown).metrics == configuration.metrics)
        }
        #expect(try await read("*:9473").metrics == MetricsAddress(host: "*", port: 9473))
        #expect(try await read("[fd00::1]:9473").metrics == MetricsAddress(host: "fd00::1", port: 9473))
        #expect(try await read("10.0.0.5:9473").metrics?.host == "10.0.0.5")
    }

    @Test("A laptop's name is one line", arguments: ["anna\nbert", "anna\u{2028}", "a\u{7}"])
    func hostName(name: String) async throws {
        let sentence = try await refusal(environment: ["MUSTER_HOST_NAME": name])
        #expect(sentence.hasPrefix("MUSTER_HOST_NAME has a line end") && sentence.contains("in one line"))
    }

    @Test(
        "Of two equal keys neither is passed over, however they are written",
        arguments: [
            #"{"listen": "127.0.0.1:1", "log-level": "info", "listen": "127.0.0.1:2"}"#,
            #"{"listen": "a\":1", "lis\u0074en": "127.0.0.1:2"}"#,
        ])
    func twoKeys(json: String) async throws {
        #expect(try await refusal(file: json).hasPrefix("'listen' in /"))
        #expect(try await refusal(file: json).contains("is there twice"))
    }

    @Test("What only looks like a key is none")
    func noKeys() {
        let json = #"{"peers": ["a", "peers", "a\"b:c"], "x": {"peers": 1, "y": 2}, "y": "peers"}"#
        #expect(JSON.repeatedKey(in: Array(json.utf8)) == nil)
    }

    @Test("Other laptops are named one by one")
    func everyPeer() async throws {
        #expect(try await refusal(environment: ["MUSTER_PEERS": "*:7473"]).contains("HOST:PORT"))
    }

    @Test("A missing or broken file is named")
    func brokenFile() async {
        await #expect(throws: ConfigurationError.self) {
            try await NodeConfiguration.read(flags: [:], environment: [:], file: "/nowhere/muster.json")
        }
    }

    private func refusal(
        file json: String? = nil, environment: [String: String] = [:]
    ) async throws -> String {
        let file = NSTemporaryDirectory() + "muster-\(UUID().uuidString).json"
        try json?.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let error = await #expect(throws: ConfigurationError.self) {
            try await NodeConfiguration.read(flags: [:], environment: environment, file: json == nil ? nil : file)
        }
        let sentence = error?.description ?? ""
        if json != nil { #expect(sentence.contains(file), "the file is named: \(sentence)") }
        return sentence
    }

    @Test(
        "A setting that nobody knows is refused by name, with the nearest right one",
        arguments: [
            ("listenn", "did you mean listen?"), ("peer", "did you mean peers?"),
            ("stateDir", "did you mean state-dir?"), ("server-token", "known are"), ("Listen", "did you mean listen?"),
            ("", "known are"),
        ])
    func unknownSetting(name: String, hint: String) async throws {
        let sentence = try await refusal(file: #"{"log-level": "info", "\#(name)": "x"}"#)
        #expect(sentence.contains("'\(name)'") && sentence.contains(hint))
    }

    @Test(
        "A value of another kind is refused by name, with what it has to be",
        arguments: [
            (#"{"listen": 7600}"#, "'listen'", "text"), (#"{"discovery": "maybe"}"#, "'discovery'", "true or false"),
            (#"{"peers": "10.0.0.2:7"}"#, "'peers'", "list"), (#"{"peers": [7]}"#, "'peers'", "list"),
            (#"{"server-interval": "15"}"#, "'server-interval'", "seconds"),
            (#"{"server-interval": 1.5}"#, "'server-interval'", "seconds"), (#"{"listen": null}"#, "'listen'", "text"),
            (#"{"listen": {"host": "a"}}"#, "'listen'", "text"), (#"{"discovery": 1}"#, "'discovery'", "true or false"),
        ])
    func wrongKind(json: String, name: String, words: String) async throws {
        let sentence = try await refusal(file: json)
        #expect(sentence.contains(name) && sentence.contains(words))
    }

    @Test("What is no object in JSON is refused, and so is a file that is not there", arguments: ["", "[]", "{", "7"])
    func noObject(json: String) async throws {
        #expect(try await refusal(file: json).contains("no JSON object"))
        let error = await #expect(throws: ConfigurationError.self) {
            try await NodeConfiguration.read(flags: [:], environment: [:], file: "/nowhere/muster.json")
        }
        #expect(error?.description.contains("/nowhere/muster.json") == true)
    }

    @Test("A variable that nobody knows is refused by name, and others are left alone")
    func environment() async throws {
        #expect(try await refusal(environment: ["MUSTER_LISTENN": "x"]).contains("did you mean MUSTER_LISTEN?"))
        #expect(try await refusal(environment: ["MUSTER_PEER": "x"]).contains("did you mean MUSTER_PEERS?"))
        #expect(try await refusal(environment: ["MUSTER_DISCOVERY": "maybe"]).contains("true or false"))
        #expect(try await refusal(environment: ["MUSTER_SERVER_INTERVAL": "0"]).contains("1 to 86400"))
        let fine = ["LISTEN": "x", "MUSTERD": "x", "MUSTER_DISCOVERY": "false", "MUSTER_SERVER_INTERVAL": "7"]
        let configuration = try await NodeConfiguration.read(flags: [:], environment: fine, file: nil)
        #expect(!configuration.usesDiscovery && configuration.serverInterval == 7)
    }

    @Test("An interval of zero seconds is refused, wherever it stands")
    func zeroInterval() async throws {
        #expect(
            try await NodeConfiguration.read(flags: [:], environment: [:], file: Self.example()).serverInterval == 15)
        let file = NSTemporaryDirectory() + "muster-\(UUID().uuidString).json"
        try #"{"server-interval": 0}"#.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let error = await #expect(throws: ConfigurationError.self) {
            try await NodeConfiguration.read(flags: [:], environment: [:], file: file)
        }
        #expect(error?.description.contains("1 to 86400") == true)
    }

    private static func example() -> String {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "docs/muster.json").path
    }

    @Test("The example file has every setting, and so has the page that explains them")
    func example() async throws {
        let configuration = try await NodeConfiguration.read(flags: [:], environment: [:], file: Self.example())
        let names = NodeConfiguration.Key.allCases.map(\.rawValue)
        #expect(configuration.settings.map(\.name) == names)
        #expect(configuration.peers.count == 1 && configuration.readerGroup == "office")
        let page = try String(
            contentsOfFile: Self.example().replacing("muster.json", with: "configuration.md"), encoding: .utf8)
        let manual = try String(
            contentsOfFile: Self.example().replacing("muster.json", with: "man/musterd.8"), encoding: .utf8)
        for key in NodeConfiguration.Key.allCases {
            #expect(
                manual.contains("\\fB\(key.rawValue.replacing("-", with: "\\-"))\\fR, \\fB\(key.variable)\\fR"),
                "\(key.rawValue)")
            #expect(page.contains("| `\(key.rawValue)` |") && page.contains("`\(key.variable)`"), "\(key.rawValue)")
        }
    }

    @Test("Without root a daemon's things lie in its user's own directories, and commands find its socket there")
    func usualDirectories() async throws {
        let home = ["HOME": "/h/anna", "XDG_RUNTIME_DIR": "/run/user/7"]
        let own = try await NodeConfiguration.read(flags: [:], environment: home, file: nil, isRoot: false)
        #expect(own.stateDirectory == "/h/anna/.local/state/muster")
        #expect(own.socket == "/run/user/7/muster/muster.sock")
        let elsewhere = UsualDirectories(environment: ["XDG_STATE_HOME": "/s", "HOME": "/h"], isRoot: false)
        #expect(elsewhere.state == "/s/muster" && elsewhere.socket == "/s/muster/muster.sock")
        for (environment, isRoot) in [(home, true), ([:], false), (["HOME": "relative"], false)] {
            #expect(UsualDirectories(environment: environment, isRoot: isRoot) == .system)
        }
        func found(_ there: Set<String>) -> String {
            UsualDirectories.socket(environment: home, isRoot: false) { there.contains($0) }
        }
        #expect(found([own.socket, UsualDirectories.system.socket]) == own.socket)
        #expect(found([UsualDirectories.system.socket]) == UsualDirectories.system.socket)
        #expect(found([]) == own.socket)
    }
}
