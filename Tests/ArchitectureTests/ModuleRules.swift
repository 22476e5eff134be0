/// What one module may import, and why not more.
struct ModuleRule: Sendable {
    /// Modules of this package.
    let internalModules: Set<String>
    /// Modules of other packages and of the system.
    let externalModules: Set<String>
    /// Pure: a value of the standard library alone. See `BannedCalls`.
    let isPure: Bool
    /// Why the list is as short as it is, and what to use instead.
    let reason: String

    static func pure(_ internalModules: Set<String> = [], _ reason: String) -> ModuleRule {
        ModuleRule(internalModules: internalModules, externalModules: [], isPure: true, reason: reason)
    }

    static func shell(
        _ internalModules: Set<String>, _ externalModules: Set<String>, _ reason: String
    ) -> ModuleRule {
        ModuleRule(
            internalModules: internalModules, externalModules: externalModules.union(system), isPure: false,
            reason: reason)
    }

    /// What comes with Swift or the system; shells may use it.
    static let system: Set<String> = [
        "CDispatch", "Darwin", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Swift", "Synchronization",
    ]
}

/// The picture of the modules as a table: a module that is not in it may not exist.
let moduleRules: [String: ModuleRule] = [
    "CRDT": .pure([], "merging is arithmetic on values; pass bytes, time and randomness in as parameters"),
    "Inventory": .pure(["CRDT"], "what a job means is decided by values; parse and print without Foundation"),
    "Timekeeping": .pure([], "the time is what callers pass in; it reads no clock of its own"),
    "Replication": .pure(
        ["CRDT", "Timekeeping"], "the mesh is a value; return a directive and let Engine carry it out"),
    "Outbox": .pure(
        ["CRDT", "Inventory"], "the outbox is a value; ServerChannel sends, Storage remembers, Engine carries between"),
    "Simulation": .shell(
        [
            "Authorship", "CRDT", "Engine", "Identity", "Inventory", "Outbox", "Replication", "ServerChannel",
            "Storage", "Timekeeping", "Transport",
        ], ["Logging"],
        "one seed replays a run exactly; draw from the world's generator and clock"),
    "WireFormat": .shell(
        ["CRDT", "CZstd", "Replication", "Timekeeping"], ["NIOCore", "SwiftProtobuf"],
        "bytes in, messages out; sockets belong to Transport, tables to Storage"),
    "Authorship": .shell(
        ["CRDT"], ["Crypto"],
        "who wrote a journal, as values; keys and certificates are Identity's, tables Storage's"),
    "Identity": .shell(
        ["Authorship", "CRDT"], ["Crypto", "CryptoExtras", "SwiftASN1", "X509"],
        "keys and proofs are values; files, sockets and the time belong to Node and Transport"),
    "Audit": .shell(
        ["Authorship", "CRDT", "HTTPCoding", "Identity", "Inventory"], [],
        "lines in, a judgement out, offline; the store's journals come through Node, files through the command"),
    "Metering": .shell(
        [], ["CoreMetrics"], "numbers in memory; who counts is above, and where they are told is LocalAPIServer's"),
    "Storage": .shell(
        ["Authorship", "CRDT", "Inventory", "Metering", "Outbox", "Timekeeping"],
        ["CoreMetrics", "Crypto", "GRDB", "GRDBSQLite"],
        "the only SQL; it knows no network, so hand it segments and take directives to Transport in Node"),
    "CDNSSD": .shell([], [], "a system library's header, and how it is opened; nothing else"),
    "simulate": .shell(["Simulation"], [], "runs seeds and prints; what a run is belongs in Simulation"),
    "discovery-probe": .shell(["Discovery"], ["Logging"], "shows what Discovery sees, and nothing else"),
    "fuzz": .shell(
        [
            "Audit", "Authorship", "CRDT", "ChannelServer", "Discovery", "HTTPCoding", "Identity", "Inventory",
            "LocalAPI", "Outbox", "Replication", "ServerChannel", "Simulation", "Systemd", "WireFormat",
        ], ["HTTPTypes", "NIOCore"], "feeds decoders, and knows nothing of what follows from a value"),
    "CMalloc": .shell([], [], "a system library's header and nothing else"),
    "CTimerFD": .shell([], [], "one call of the kernel, in C, and nothing else"),
    "Discovery": .shell(
        ["CDNSSD"], ["Logging"], "finds services for anyone; what to do with one is decided in Node"),
    "FleetTLS": .shell(
        [], ["NIOCore", "NIOSSL"],
        "how the fleet speaks TLS, to peers and to the server alike; whom it trusts is Identity's"),
    "Systemd": .shell(
        [], ["Logging"], "what a program tells the system that runs it and asks of it, and nothing of what it does"),
    "Reloading": .shell(
        ["Systemd"], ["Logging", "ServiceLifecycle", "UnixSignals"],
        "when a daemon takes up settings, a laptop's and the server alike; which ones its own module knows"),
    "Transport": .shell(
        ["CRDT", "FleetTLS", "Metering", "Replication", "WireFormat"],
        ["CoreMetrics", "Logging", "NIOCore", "NIOPosix", "NIOSSL", "NIOTLS"],
        "moves messages; durability and meaning are reached through its handler, which Engine implements"),
    "Enrolment": .shell(
        ["Discovery", "FleetTLS", "Identity", "Replication", "Transport", "WireFormat"], ["Logging"],
        "how a newcomer joins, a laptop and the server alike; what becomes of its certificates its own module decides"),
    "ServerChannel": .shell(
        ["Authorship", "CRDT", "CZlib", "FleetTLS", "HTTPCoding", "Outbox", "Timekeeping"],
        ["AsyncHTTPClient", "Logging", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL", "SwiftProtobuf"],
        "talks to the server and says what it heard; what follows from it is decided in Node"),
    "CZstd": .shell([], [], "a system library's header and nothing else"),
    "CZlib": .shell([], [], "a system library's header and nothing else"),
    "HTTPCoding": .shell(
        [], [], "how values are written in HTTP, for the API on the socket and that of the server; it knows neither"),
    "ChannelServer": .shell(
        [
            "Authorship", "CMalloc", "CRDT", "Enrolment", "FleetTLS", "HTTPCoding", "Identity", "Inventory", "Outbox",
            "Reloading", "Replication", "ServerChannel", "Storage", "Systemd",
        ],
        [
            "HTTPTypes", "Hummingbird", "HummingbirdCore", "Logging", "NIOCore", "NIOPosix", "NIOSSL", "NIOTLS",
            "ServiceLifecycle", "UnixSignals",
        ],
        "the server is one more replica: its rules are Storage's and Outbox's, its messages ServerChannel's"),
    "muster-channel": .shell(
        ["ChannelServer", "HTTPCoding", "Reloading", "Systemd", "Usage"], ["ArgumentParser", "Logging", "UnixSignals"],
        "flags and nothing else; what they do belongs in ChannelServer"),
    "LocalAPI": .shell(
        ["CRDT", "HTTPCoding", "Inventory", "Systemd"], ["NIOCore", "NIOHTTP1", "NIOPosix"],
        "types and client of the API; what serves it is LocalAPIServer's, and makes a command three times as large"),
    "Checkup": .shell(
        ["LocalAPI", "Systemd"], [],
        "looks at the machine without a daemon; what only the daemon knows is judged in Node"),
    "LocalAPIServer": .shell(
        ["HTTPCoding", "Inventory", "LocalAPI", "Systemd"],
        [
            "HTTPTypes", "Hummingbird", "HummingbirdCore", "Logging", "NIOCore", "NIOHTTP1", "NIOPosix",
            "ServiceLifecycle",
        ],
        "serves the API; it reaches the daemon through MusterService only"),
    "Engine": .shell(
        [
            "Authorship", "CRDT", "Metering", "Outbox", "Replication", "ServerChannel", "Storage", "Timekeeping",
            "Transport",
        ],
        ["CoreMetrics", "Logging"],
        "carries out what the machines decide; time, tasks and chance come from its Machine, so that a run can be repeated"
    ),
    "Node": .shell(
        [
            "Audit", "Authorship", "CMalloc", "CRDT", "CTimerFD", "Checkup", "Discovery", "Engine", "Enrolment",
            "FleetTLS",
            "HTTPCoding",
            "Identity", "Inventory", "LocalAPI", "LocalAPIServer", "Metering", "Outbox", "Reloading", "Replication",
            "ServerChannel", "Storage", "Systemd", "Timekeeping", "Transport",
            "WireFormat",
        ],
        ["Configuration", "Logging", "ServiceLifecycle", "UnixSignals"],
        "composes the others; a library that it seems to need belongs behind one of them"),
    "Usage": .shell(
        ["Inventory"], ["ArgumentParser"],
        "how programs end whose command line is wrong; what is right each knows itself"),
    "musterd": .shell(
        ["HTTPCoding", "Node", "Systemd", "Usage"], ["ArgumentParser", "Logging"],
        "flags and nothing else; compose in Node"),
    "CQRCode": .shell([], [], "a system library's header and nothing else"),
    "muster": .shell(
        [
            "Audit", "CQRCode", "CRDT", "CZlib", "Checkup", "HTTPCoding", "Identity", "Inventory", "LocalAPI",
            "Systemd", "Usage",
        ],
        ["ArgumentParser", "Crypto", "UnixSignals"],
        "talks to the daemon only; one process owns the store, so ask for what you need in LocalAPI"),
]

/// What the command consists of. All of Foundation in it, which brings ICU, would be three quarters of its size.
let commandModules: Set<String> = [
    "Audit", "Authorship", "CRDT", "Checkup", "HTTPCoding", "Identity", "Inventory", "LocalAPI", "Usage", "muster",
]

/// The imports of a file that its module's rule does not allow.
func forbiddenImports(in file: SourceFile) -> [Violation] {
    guard let rule = moduleRules[file.module] else {
        return [Violation(path: file.path, line: 1, message: "\(file.module) is not in the table of modules; add it")]
    }
    var allowed = rule.internalModules.union(rule.externalModules)
    if commandModules.contains(file.module) { allowed.remove("Foundation") }
    var violations: [Violation] = []
    for (number, line) in CodeOnly.of(file.text).split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        guard let module = importedModule(line), !allowed.contains(module), module != "Swift" else { continue }
        let message = "\(file.module) may not import \(module): \(rule.reason)"
        violations.append(Violation(path: file.path, line: number + 1, message: message))
    }
    return violations
}

/// The modules that a file imports.
func importedModules(in file: SourceFile) -> [String] {
    CodeOnly.of(file.text).split(separator: "\n").compactMap(importedModule)
}

/// `import X`, with attributes, an access level, a kind of declaration or a submodule; nil for any other line.
func importedModule(_ line: Substring) -> String? {
    let words = line.split(whereSeparator: \.isWhitespace)
    guard let keyword = words.firstIndex(of: "import"), keyword + 1 < words.count else { return nil }
    let levels: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
    guard words[..<keyword].allSatisfy({ levels.contains($0) || $0.hasPrefix("@") }) else { return nil }
    let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias", "actor"]
    let next = kinds.contains(words[keyword + 1]) ? keyword + 2 : keyword + 1
    guard next < words.count else { return nil }
    return words[next].split(separator: ".").first.map(String.init)
}
