import CRDT
import Foundation
import HTTPCoding
import HTTPTypes
import Identity
@testable import LocalAPIServer
import NIOCore
import NIOHTTP1
import Testing

@testable import LocalAPI
@testable import Node

/// The OpenAPI document beside the running server.
@Suite(.timeLimit(.minutes(2)))
struct OpenAPITests {
    struct Operation: Sendable, CustomTestStringConvertible {
        var method: String
        var path: String
        var testDescription: String { "\(method) \(path)" }
    }

    /// A carried file has to be written by another laptop (`CarryTests`), and backups need a store on a disk (test_backup.py).
    static let answering = operations.filter { !["/v1/carry/in", "/v1/backup", "/v1/restore"].contains($0.path) }
    static let operations = Route.all.map { Operation(method: $0.method.rawValue, path: $0.path) }

    static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/LocalAPIServer/openapi.json")

    static func document() throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any] ?? [:]
    }

    @Test("Every served operation is documented, and every documented one is served")
    func complete() throws {
        let paths = try #require(try Self.document()["paths"] as? [String: [String: Any]])
        let documented = paths.flatMap { path, item in
            item.keys.filter { $0 != "parameters" }.map { "\($0.uppercased()) \(path)" }
        }
        #expect(Set(documented) == Set(Self.operations.map(\.testDescription)))
        #expect(Self.operations.count == Set(Self.operations.map(\.testDescription)).count)
    }

    @Test("Every parameter of a query that is taken is documented, and no other")
    func queries() throws {
        let schemas = SchemaCheck(document: try Self.document())
        let paths = try #require(try Self.document()["paths"] as? [String: [String: Any]])
        for route in Route.all {
            let operation = paths[route.path]?[route.method.rawValue.lowercased()] as? [String: Any]
            let written = operation?["parameters"] as? [[String: Any]] ?? []
            let parameters = written.map { parameter in
                (parameter["$ref"] as? String).map { schemas.resolve($0) } ?? parameter
            }
            let documented = parameters.filter { $0["in"] as? String == "query" }
            #expect(documented.compactMap { $0["name"] as? String } == route.query, "\(route.method) \(route.path)")
            let takesCondition = parameters.contains { $0["name"] as? String == "If-Match" }
            #expect(takesCondition == route.takesCondition, "\(route.method) \(route.path)")
        }
    }

    @Test("The keys that a body takes are those that are documented, and no others")
    func bodies() throws {
        let schemas = SchemaCheck(document: try Self.document())
        let paths = try #require(try Self.document()["paths"] as? [String: [String: Any]])
        let bodies: [String: [String]] = [
            "AddPeer": AddPeerRequest.keys, "Admission": AdmissionRequest.keys, "AdvanceRequest": AdvanceRequest.keys,
            "AssignmentRequest": AssignmentRequest.keys, "BeginSession": BeginSessionRequest.keys,
            "CarryOutRequest": CarryOutRequest.keys, "CarryRecipientsRequest": CarryRecipientsRequest.keys,
            "CreateJob": CreateJobRequest.keys, "Fields": FieldsRequest.keys,
            "FleetCertificates": FleetCertificates.keys, "Invitation": InvitationRequest.keys,
            "ItemBatch": ItemBatch.keys, "Join": JoinRequest.keys, "LaneRequest": LaneRequest.keys,
            "LateDecision": LateDecision.keys, "Note": NoteRequest.keys, "Removal": RemovalRequest.keys,
            "RenameJob": RenameJobRequest.keys, "Revocation": RevocationRequest.keys, "Settle": SettleRequest.keys,
            "SignCertificate": SignCertificateRequest.keys, "SignOffRequest": SignOffRequest.keys,
        ]
        var documented: Set<String> = []
        for operation in paths.values.flatMap(\.values) {
            let body = (operation as? [String: Any])?["requestBody"] as? [String: Any]
            let content = body?["content"] as? [String: [String: Any]]
            let schema = content?["application/json"]?["schema"] as? [String: Any]
            guard let name = (schema?["$ref"] as? String)?.split(separator: "/").last else { continue }
            documented.insert(String(name))
        }
        #expect(documented == Set(bodies.keys))
        for route in Route.all {
            let operation = paths[route.path]?[route.method.rawValue.lowercased()] as? [String: Any]
            #expect((operation?["requestBody"] != nil) == route.takesBody, "\(route.method) \(route.path)")
        }
        for (name, keys) in bodies.merging(["BatchItem": BatchItem.keys], uniquingKeysWith: { $1 }) {
            let schema = schemas.resolve("#/components/schemas/\(name)")
            #expect((schema["properties"] as? [String: Any]).map { Set($0.keys) } == Set(keys), "\(name)")
            #expect(schema["additionalProperties"] as? Bool == false, "\(name)")
        }
    }

    @Test("The document is served as it stands")
    func served() async throws {
        let scene = try await Scene()
        let body = try await withDaemon(scene.answers) { socket in
            try await Self.request(Operation(method: "GET", path: "/v1/openapi.json"), socket, scene).body
        }
        let served = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? NSDictionary)
        #expect(served == (try Self.document() as NSDictionary))
    }

    @Test("Every operation answers as documented", arguments: answering)
    func answers(operation: Operation) async throws {
        let schemas = SchemaCheck(document: try Self.document())
        let described = try #require(
            schemas.resolve("#/paths")[operation.path].flatMap { $0 as? [String: Any] }?[operation.method.lowercased()]
                as? [String: Any])
        let responses = try #require(described["responses"] as? [String: [String: Any]])
        let scene = try await Scene()
        let (status, mediaType, body) = try await withDaemon(scene.answers) { socket in
            try await Self.request(operation, socket, scene)
        }
        #expect((200...299).contains(status))
        let response = try #require(responses["\(status)"], "status \(status) is not documented")
        let content = try #require(response["content"] as? [String: [String: Any]])
        let media = try #require(content[mediaType], "\(mediaType) is not documented")
        let schema = try #require(media["schema"] as? [String: Any])
        // A file, which `CarryTests` read.
        guard mediaType != "application/octet-stream" else { return }
        let documents =
            mediaType == "application/x-ndjson" ? body.split(separator: UInt8(ascii: "\n")).map(Array.init) : [body]
        for document in documents {
            let value = try JSONSerialization.jsonObject(with: Data(document), options: .fragmentsAllowed)
            #expect(schemas.problems(value, schema) == [])
            #expect(schemas.undocumented(value, schema) == [])
        }
    }

    /// Of a laptop that was let in.
    private static func card(_ scene: Scene, _ key: DeviceKey) async throws -> String {
        let request = SignCertificateRequest(request: try SigningRequest(key).pem, role: "member")
        return try await scene.service.signCertificate(request).certificates
    }

    private static func carryOut(_ scene: Scene) async throws -> CarryOutRequest {
        let key = DeviceKey()
        return CarryOutRequest(to: "\(key.publicKey.device)", cards: [try await card(scene, key)])
    }

    static func request(
        _ operation: Operation, _ socket: String, _ scene: Scene
    ) async throws -> (status: Int, mediaType: String, body: [UInt8]) {
        // A laptop installs what makes it an issuer, and can then let others in, and leave.
        let isOfFleet =
            operation.path.hasPrefix("/v1/fleet") || operation.path.hasSuffix("assignments")
            || operation.path.hasPrefix("/v1/carry")
        let certificates = isOfFleet ? try await scene.founding() : nil
        if let certificates, !operation.path.hasSuffix("join"), operation.testDescription != "PUT /v1/fleet" {
            _ = try await scene.service.installCertificates(certificates)
        }
        let isOfInvitation = operation.path.hasSuffix("{invitation}")
        let invitation =
            isOfInvitation ? try await scene.service.openInvitation(InvitationRequest(role: "member")).name : ""
        let peer = "10.0.0.1:4710"
        if operation.path.hasSuffix("{address}") {
            _ = try await scene.service.addPeer(AddPeerRequest(address: peer, keep: true))
        }
        let isRestore = operation.path.hasSuffix("restore")
        let path = operation.path.split(separator: "/").dropFirst().map { segment in
            switch segment {
            case "{job}": operation.path.contains("late") ? Scene.removedJobID : Scene.jobID
            case "{token}": scene.tokens[0]
            case "{invitation}": invitation
            case "{address}": peer
            case "{item}": isRestore ? Scene.removedItemID : Scene.itemIDs[0]
            default: String(segment)
            }
        }
        let body: (any Encodable & Sendable)? =
            switch "\(operation.method) \(path.last ?? "")" {
            case "PUT fleet": certificates
            case "POST invitations": InvitationRequest(role: "member")
            case "PUT \(invitation)": AdmissionRequest(deviceID: scene.service.fleet.device.description)
            case "POST revocations": RevocationRequest(device: String(repeating: "7a", count: 32))
            case "POST join": JoinRequest(code: "0000-0000-0000-0000")
            case "POST certificates":
                SignCertificateRequest(request: try SigningRequest(DeviceKey()).pem, role: "member")
            case "POST session": BeginSessionRequest(name: "Ann", isNew: true)
            case "POST assignments": AssignmentRequest(assign: [scene.service.fleet.device.description])
            case "POST peers": AddPeerRequest(address: "10.0.0.1:4710")
            case "POST recipients": CarryRecipientsRequest(cards: [try await Self.card(scene, DeviceKey())])
            case "POST out": try await Self.carryOut(scene)
            case "POST jobs": CreateJobRequest(name: "Jones")
            case "POST import": ItemBatch(key: "name", items: [FieldsRequest(fields: ["name": "refused"])])
            case "POST removals": RemovalRequest(items: Scene.itemIDs)
            case "POST accept", "POST drop": LateDecision(changes: [scene.late[0]])
            case "POST conflicts": SettleRequest(item: "job", field: "name", take: "Smith family")
            case "POST state": AdvanceRequest(state: "completed")
            case "POST signature": SignOffRequest(name: "J. Smith")
            case "POST pause", "POST resume": LaneRequest()
            case "POST notes": NoteRequest(text: "scratched")
            case "PATCH \(Scene.jobID)": RenameJobRequest(name: "Jones")
            case "POST items", "PATCH \(Scene.itemIDs[0])": FieldsRequest(fields: ["name": "Sofa"])
            default: nil
            }
        let query = operation.testDescription == "DELETE /v1/jobs/{job}" ? [("confirmed", "true")] : []
        return try await LocalClient.with(socketPath: socket) { client in
            let response = try await client.execute(
                try client.request(
                    HTTPMethod(rawValue: operation.method), path, query: query, accept: "*/*", body: body))
            #expect(response.headers.first(name: "Muster-Version") == MusterVersion.current)
            let mediaType = response.headers.first(name: "content-type") ?? ""
            guard operation.path == "/v1/events" else {
                let whole = try client.good(try await client.whole(response))
                return (Int(response.status.code), mediaType, Array(whole.body.readableBytesView))
            }
            scene.service.hub.publish(.change(try await scene.changes()[1]))
            var text = ""
            for try await piece in response.body {
                text += String(buffer: piece)
                if text.contains("data: ") { break }
            }
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("data: ") })
            return (Int(response.status.code), mediaType, Array(line.dropFirst(6).utf8))
        }
    }
}
