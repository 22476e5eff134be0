// swift-tools-version: 6.2

import PackageDescription

// One list of settings for every target, so that no module falls behind the others. NonisolatedNonsendingByDefault is
// left out: with it, Swift 6.3.1 let an actor go on off its executor (see ARCHITECTURE.md, "Threads").
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
]

// Names of products, so that the table of targets below stays readable.
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let sqlite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let nioTestUtils: Target.Dependency = .product(name: "NIOTestUtils", package: "swift-nio")
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let x509: Target.Dependency = .product(name: "X509", package: "swift-certificates")
let asn1: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let httpClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let metrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let configuration: Target.Dependency = .product(name: "Configuration", package: "swift-configuration")

let package = Package(
    name: "muster",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "musterd", targets: ["musterd"]),
        .executable(name: "muster", targets: ["muster"]),
        .executable(name: "muster-channel", targets: ["muster-channel"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        // Without its reader of JSON, which takes all of Foundation with it, and ICU: 60 MB.
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: ["ConfigurationSupport"]),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // Pure: the standard library and each other, nothing else (guarded by ArchitectureTests).
        .target(name: "CRDT"),
        .target(name: "Inventory", dependencies: ["CRDT"]),
        .target(name: "Timekeeping"),
        .target(name: "Replication", dependencies: ["CRDT", "Timekeeping"]),
        .target(name: "Outbox", dependencies: ["CRDT", "Inventory"]),
        // Shells.
        .target(
            name: "WireFormat", dependencies: ["CRDT", "CZstd", "Replication", "Timekeeping", nioCore, protobuf],
            exclude: ["muster/enrolment.proto", "muster/peer.proto"]),
        .systemLibrary(name: "CZstd", providers: [.apt(["libzstd-dev"])]),
        .target(name: "Metering", dependencies: [metrics]),
        .target(name: "Authorship", dependencies: ["CRDT", crypto]),
        .target(name: "Identity", dependencies: ["Authorship", "CRDT", asn1, crypto, cryptoExtras, x509]),
        .target(name: "Audit", dependencies: ["Authorship", "CRDT", "HTTPCoding", "Identity", "Inventory"]),
        .target(
            name: "Storage",
            dependencies: [
                "Authorship", "CRDT", "Inventory", "Metering", "Outbox", "Timekeeping", crypto, grdb, metrics, sqlite,
            ]),
        .systemLibrary(name: "CMalloc"),
        .target(name: "CTimerFD"),
        .systemLibrary(name: "CDNSSD", providers: [.apt(["libavahi-client-dev", "libavahi-compat-libdnssd-dev"])]),
        .target(name: "Discovery", dependencies: ["CDNSSD", logging]),
        .target(name: "FleetTLS", dependencies: [nioCore, nioSSL]),
        .target(name: "Systemd", dependencies: [logging]),
        .target(name: "Reloading", dependencies: ["Systemd", lifecycle, logging, unixSignals]),
        .target(
            name: "Transport",
            dependencies: [
                "CRDT", "FleetTLS", "Metering", "Replication", "WireFormat", nioCore, nioPosix, nioSSL, nioTLS, logging,
                metrics,
            ]),
        .target(
            name: "Enrolment",
            dependencies: ["Discovery", "FleetTLS", "Identity", "Replication", "Transport", "WireFormat", logging]),
        .target(
            name: "ServerChannel",
            dependencies: [
                "Authorship", "CRDT", "CZlib", "FleetTLS", "HTTPCoding", "Outbox", "Timekeeping", httpClient, logging,
                nioCore, nioHTTP1, nioPosix, nioSSL, protobuf,
            ],
            exclude: ["muster/channel.proto"]),
        .systemLibrary(name: "CQRCode", providers: [.apt(["libqrencode-dev"])]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "HTTPCoding"),
        .target(
            name: "ChannelServer",
            dependencies: [
                "Authorship", "CMalloc", "CRDT", "Enrolment", "FleetTLS", "HTTPCoding", "Identity", "Inventory",
                "Outbox", "Reloading", "Replication", "ServerChannel", "Storage", "Systemd",
                hummingbird, hummingbirdCore, httpTypes, lifecycle, unixSignals, logging, nioCore, nioPosix, nioSSL,
                nioTLS,
            ],
            // Served as it stands: one source of truth, and no file to be found at run time.
            resources: [.embedInCode("openapi.json")]),
        .target(
            name: "LocalAPI",
            dependencies: ["CRDT", "HTTPCoding", "Inventory", "Systemd", nioCore, nioHTTP1, nioPosix]),
        .target(name: "Checkup", dependencies: ["LocalAPI", "Systemd"]),
        // Apart from the client: a command that carries a server with it is three times as large.
        .target(
            name: "LocalAPIServer",
            dependencies: [
                "HTTPCoding", "Inventory", "LocalAPI", "Systemd", hummingbird, hummingbirdCore, httpTypes, lifecycle,
                logging, nioCore, nioHTTP1, nioPosix,
            ],
            resources: [.embedInCode("openapi.json")]),
        .target(
            name: "Engine",
            dependencies: [
                "Authorship", "CRDT", "Metering", "Outbox", "Replication", "ServerChannel", "Storage", "Timekeeping",
                "Transport", logging, metrics,
            ]),
        .target(
            name: "Node",
            dependencies: [
                "Audit", "Authorship", "CRDT", "Checkup", "Inventory", "Metering", "Outbox", "Timekeeping",
                "Replication",
                "Storage", "Discovery", "Transport",
                "ServerChannel", "LocalAPI", "LocalAPIServer", "HTTPCoding", "Engine", "Enrolment", "FleetTLS",
                "Identity",
                "Reloading", "Systemd", "WireFormat",
                "CMalloc", "CTimerFD",
                lifecycle,
                unixSignals,
                configuration,
                logging,
            ]),
        .target(name: "Usage", dependencies: ["Inventory", arguments]),
        // Executables.
        .executableTarget(
            name: "musterd", dependencies: ["HTTPCoding", "Node", "Systemd", "Usage", arguments, logging]),
        .executableTarget(
            name: "muster-channel",
            dependencies: [
                "ChannelServer", "HTTPCoding", "Reloading", "Systemd", "Usage", arguments, logging, unixSignals,
            ]),
        .executableTarget(
            name: "muster",
            dependencies: [
                "LocalAPI", "HTTPCoding", "Audit", "CQRCode", "Checkup", "CRDT", "CZlib", "Identity", "Inventory",
                "Systemd", "Usage",
                arguments,
                crypto,
                unixSignals,
            ]),
        // Test support.
        .target(
            name: "Simulation",
            dependencies: [
                "Authorship", "CRDT", "Engine", "Identity", "Inventory", "Outbox", "Replication", "ServerChannel",
                "Storage",
                "Timekeeping", "Transport", logging,
            ],
            path: "Tests/Simulation"),
        .executableTarget(name: "simulate", dependencies: ["Simulation"], path: "Tests/SimulationRunner"),
        .executableTarget(
            name: "discovery-probe", dependencies: ["Discovery", logging], path: "Tests/DiscoveryProbe"),
        // Tests.
        .testTarget(name: "CRDTTests", dependencies: ["Authorship", "CRDT", "Simulation"]),
        .testTarget(name: "TimekeepingTests", dependencies: ["Timekeeping", "CRDT"]),
        .testTarget(name: "MeteringTests", dependencies: ["Metering", metrics]),
        .testTarget(name: "InventoryTests", dependencies: ["Inventory", "CRDT"]),
        .testTarget(name: "OutboxTests", dependencies: ["Outbox", "CRDT", "Inventory", "Simulation"]),
        .testTarget(name: "ReplicationTests", dependencies: ["Replication", "CRDT", "Simulation", "Timekeeping"]),
        .testTarget(
            name: "WireFormatTests",
            dependencies: ["WireFormat", "Replication", "CRDT", "Simulation", "Timekeeping", nioCore, nioTestUtils],
            exclude: ["Fixtures"]),
        .testTarget(
            name: "StorageTests",
            dependencies: [
                "Authorship", "Storage", "Replication", "CRDT", "Inventory", "Outbox", "Simulation", "Timekeeping",
                grdb,
            ]),
        .testTarget(
            name: "TransportTests",
            dependencies: [
                "CRDT", "Enrolment", "FleetTLS", "Identity", "Transport", "WireFormat", "Replication", "Simulation",
                "Timekeeping",
                nioCore, nioPosix, nioSSL, nioTLS, logging,
            ]),
        .testTarget(
            name: "ServerChannelTests",
            dependencies: ["ServerChannel", "CRDT", "Outbox", "Simulation", "Timekeeping", nioCore, nioHTTP1, nioPosix]),
        .testTarget(name: "AuthorshipTests", dependencies: ["Authorship", "CRDT", "Identity", "Simulation"]),
        .testTarget(
            name: "AuditTests",
            dependencies: ["Audit", "Authorship", "CRDT", "HTTPCoding", "Identity", "Inventory", "Simulation"]),
        .testTarget(name: "IdentityTests", dependencies: ["Identity", "CRDT", "Simulation"]),
        .testTarget(name: "HTTPCodingTests", dependencies: ["HTTPCoding", "CRDT"]),
        .testTarget(
            name: "ChannelServerTests",
            dependencies: [
                "Authorship", "ChannelServer", "HTTPCoding", "ServerChannel", "Identity", "Simulation", "Storage",
                "Systemd", "CRDT", "Outbox", httpClient,
                httpTypes, logging, nioCore,
                nioHTTP1,
            ]),
        .testTarget(name: "DiscoveryTests", dependencies: ["Discovery"]),
        .testTarget(name: "SystemdTests", dependencies: ["Systemd", logging]),
        .testTarget(
            name: "EngineTests",
            dependencies: [
                "Engine", "Authorship", "Replication", "Transport", "Storage", "Inventory", "CRDT", "Timekeeping",
                "Outbox", "Simulation",
                "simulate", logging,
            ]),
        .testTarget(
            name: "NodeTests",
            dependencies: [
                "Node", "Checkup", "Engine", "Enrolment", "FleetTLS", "WireFormat", "Replication", "ServerChannel",
                "LocalAPI",
                "LocalAPIServer",
                "HTTPCoding",
                "Metering",
                "Outbox",
                "Storage", "Systemd", "Transport",
                "Inventory", "CRDT", "Identity", "Timekeeping", "Simulation", logging,
            ]),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "LocalAPI", "LocalAPIServer", "HTTPCoding", "CRDT", "Engine", "Identity", "Inventory", "Node", "Outbox",
                "Simulation",
                "Storage", "Systemd", "Usage", "muster",
                arguments, httpTypes, hummingbird, lifecycle, logging, nioCore, nioHTTP1, nioPosix,
            ],
            exclude: ["Snapshots"]),
        .testTarget(name: "CheckupTests", dependencies: ["Checkup", "LocalAPI"]),
        .testTarget(name: "ArchitectureTests"),
    ]
)

// Built by Tests/fuzz alone: its main is libFuzzer's.
let isFuzzing = Context.environment["MUSTER_FUZZ"] != nil
if isFuzzing {
    package.targets.append(
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "Audit", "Authorship", "CRDT", "ChannelServer", "Discovery", "HTTPCoding", "Identity", "Inventory",
                "LocalAPI", "Outbox", "Replication", "ServerChannel", "Simulation", "Systemd", "WireFormat", httpTypes,
                nioCore,
            ],
            path: "Tests/Fuzzing", exclude: ["Corpora"]))
}

for target in package.targets where target.type != .system {
    target.swiftSettings = strict
}

// What the simulation spends its time in is optimised also where tests are built, so that hundreds of histories fit
// into each run of the tests. Assertions and overflow checks that matter are preconditions or arithmetic, and stay.
let simulated = [
    "Authorship", "CRDT", "Inventory", "Timekeeping", "Replication", "Outbox", "Storage", "Engine", "Simulation",
]
for target in package.targets where simulated.contains(target.name) {
    target.swiftSettings = strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]
}

// Only this package's own modules are instrumented: their decoders are what the fuzzer is after, and nothing else is built anew.
if isFuzzing {
    for target in package.targets where target.type != .system && !target.isTest {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-sanitize=fuzzer"])]
        guard target.name == "fuzz" else { continue }
        target.swiftSettings?.append(.unsafeFlags(["-parse-as-library"]))
        target.linkerSettings = [.unsafeFlags(["-sanitize=fuzzer"])]
    }
}
