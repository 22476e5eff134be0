import CRDT
import ChannelServer
import Foundation
import Identity
import Simulation
import Testing

@Suite("A server is let into its fleet by files")
struct ServerFleetTests {
    private func withServer(_ body: (FleetAdministration) async throws -> Void) async throws {
        let directory = NSTemporaryDirectory() + "muster-server-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let server = try FleetAdministration(databasePath: directory + "/channel.sqlite", makesDatabase: true)
        try await body(server)
        try server.close()
    }

    @Test("It asks with the key that it keeps, and is in the fleet when it has installed what an issuer made of that")
    func joins() async throws {
        let fleet = try TestFleet()
        try await withServer { server in
            let before = try await server.status()
            #expect(before.fleetID == nil && before.issuerID == nil && before.validUntil == nil)
            let request = try await server.request()
            #expect(try SigningRequest.key(inPEM: request).device.description == before.deviceID)
            let installed = try await server.install(fleet.papers(request), changesFleet: false)
            #expect(installed.fleetID == fleet.trust.short && installed.deviceID == before.deviceID)
            #expect(installed.issuerID == fleet.issuer.certificate.key.device.short)
            #expect(installed.validUntil == TestFleet.today + 400 * TestFleet.day)
            #expect(try await server.status().fleetID == fleet.trust.short)
            #expect(try await server.install(fleet.papers(request), changesFleet: false).fleetID != nil, "renewed")
        }
    }

    @Test("What is not for it is refused in a sentence, and changes nothing")
    func refusals() async throws {
        let (fleet, other) = (try TestFleet(), try TestFleet())
        try await withServer { server in
            let request = try await server.request()
            _ = try await server.install(fleet.papers(request), changesFleet: false)
            let good = try fleet.papers(request)
            let end = "-----END CERTIFICATE-----\n"
            let blocks = good.components(separatedBy: end).dropLast().map { $0 + end }
            let others = try fleet.papers(SigningRequest(DeviceKey()).pem)
            for (text, words) in [
                ("", "no certificates"), ("nothing\n", "no certificates"), (blocks[0], "no certificates"),
                (others, "another one's"), (try fleet.papers(request, as: .office), "--role server"),
                (blocks[0] + blocks[2], "may"),
                (blocks[0] + (try other.papers(request).components(separatedBy: end)[1]) + end + blocks[2], "may"),
                (try other.papers(request), "--another-fleet"),
            ] {
                let problem = await #expect(throws: StartProblem.self) {
                    try await server.install(text, changesFleet: false)
                }
                #expect(problem?.sentence.contains(words) ?? false, "\(problem?.sentence ?? "") lacks \(words)")
                #expect(try await server.status().fleetID == fleet.trust.short)
            }
            let moved = try await server.install(other.papers(request), changesFleet: true)
            #expect(moved.fleetID == other.trust.short)
        }
    }
}
