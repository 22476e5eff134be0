// A program of the tests: announces a service, and prints each discovery event as one JSON line, stamped with the
// monotonic clock in seconds, until SIGTERM or SIGINT. SIGHUP says that this machine's addresses have changed.
//
// Usage: discovery-probe NAME PORT ID [FLEET]

import Discovery
import Dispatch
import Foundation
import Logging

struct Line: Encodable {
    var time: Double
    var event: String
    var name: String?
    var id: String?
    var fleet: String?
    var version: Int?
    var host: String?
    var addresses: [String]?
    var port: UInt16?
    var reason: String?

    init(_ event: DiscoveryEvent) {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        time = Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
        switch event {
        case .available:
            self.event = "available"
        case .unavailable(let outage):
            self.event = "unavailable"
            reason = outage.reason
        case .advertised(let instanceName):
            self.event = "advertised"
            name = instanceName
        case .lost(let instanceName):
            self.event = "lost"
            name = instanceName
        case .found(let service):
            self.event = "found"
            name = service.instanceName
            id = service.id
            fleet = service.fleet
            version = service.protocolVersion
            host = service.hostName
            addresses = service.addresses
            port = service.port
        }
    }
}

let arguments = CommandLine.arguments
guard arguments.count >= 4, let port = UInt16(arguments[2]) else {
    FileHandle.standardError.write(Data("usage: discovery-probe NAME PORT ID [FLEET]\n".utf8))
    exit(64)
}
let discovery = ServiceDiscovery(
    advertisement: Advertisement(
        instanceName: arguments[1], port: port, protocolVersion: 1, id: arguments[3],
        fleet: arguments.count > 4 ? arguments[4] : ""),
    logger: Logger(label: "discovery-probe") { label in
        var handler = StreamLogHandler.standardError(label: label)
        handler.logLevel = .debug
        return handler
    })

let running = Task { await discovery.run() }
let signals = [SIGTERM, SIGINT, SIGHUP].map { number in
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
    source.setEventHandler {
        if number == SIGHUP { Task { await discovery.networkChanged() } } else { running.cancel() }
    }
    source.activate()
    return source
}
let encoder = JSONEncoder()
encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
for await event in discovery.events {
    FileHandle.standardOutput.write(try encoder.encode(Line(event)) + Data("\n".utf8))
}
await running.value
withExtendedLifetime(signals) {}
