import Foundation
import HTTPTypes
import NIOHTTP1
import Testing

import CRDT
import Outbox
@testable import ChannelServer
@testable import ServerChannel

/// The OpenAPI document beside the routes. What they answer is compared with it from outside (Tests/Laptops).
@Suite("The document of the server channel")
struct DocumentTests {
    private static func bytes() throws -> Data {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/ChannelServer/openapi.json")
        return try Data(contentsOf: file)
    }

    @Test("Every served operation is documented, and every documented one is served")
    func complete() throws {
        let document = try JSONSerialization.jsonObject(with: Self.bytes()) as? [String: Any]
        let paths = try #require(document?["paths"] as? [String: [String: Any]])
        let documented = paths.flatMap { path, item in
            item.keys.filter { $0 != "parameters" }.map { "\($0.uppercased()) \(path)" }
        }
        let served = Route.all.map { "\($0.method.rawValue) \($0.path)" }
        #expect(Set(documented) == Set(served))
        #expect(served.count == Set(served).count)
    }

    @Test(
        "The document allows lists as long as the server takes them",
        arguments: [
            ("Mutations", "mutations", ChannelLimits.mutations), ("Decisions", "decisions", ChannelLimits.mutations),
            ("Segments", "segments", ChannelLimits.segments), ("Removal", "entries", ChangeLimits.positions),
        ])
    func lists(schema: String, property: String, most: Int) throws {
        let document = try JSONSerialization.jsonObject(with: Self.bytes()) as? [String: Any]
        let schemas = (document?["components"] as? [String: Any])?["schemas"] as? [String: [String: Any]]
        let properties = schemas?[schema]?["properties"] as? [String: [String: Any]]
        #expect(properties?[property]?["maxItems"] as? Int == most)
    }

    @Test(
        "A lane and a kind that the document allows are taken, and no others",
        arguments: [".", ".late", "state", "A-9_."])
    func lanes(name: String) throws {
        func lane(_ lane: String, _ kind: String) throws -> String? {
            let request = MutationRequest(
                token: MutationToken(1), lane: lane, after: nil, priority: 0, kind: kind, payload: Array("{}".utf8))
            let body = #"{"mutations": [\#(try Office.json(request))]}"#
            return try MutationsDocument.read(Array(body.utf8)).first?.request.lane
        }
        #expect(try lane(name, name) == name)
        #expect(throws: ChannelProblem.self) { try lane(name + "/", "state") }
        #expect(throws: ChannelProblem.self) { try lane("state", name + " ") }
    }

    @Test("A removal's entries are counted as they were sent", arguments: [8_192, 8_193])
    func removalEntries(count: Int) throws {
        let (replica, digest) = (String(repeating: "a", count: 32), String(repeating: "f2", count: 32))
        let entry = #"{"replica": "\#(replica)", "sequence": 3, "digest": "\#(digest)"}"#
        let entries = Array(repeating: entry, count: count).joined(separator: ", ")
        let body = Array(#"{"name": "Smith", "entries": [\#(entries)]}"#.utf8)
        if count <= ChangeLimits.positions {
            #expect(try RemovalDocument.read(body).heads.entries.count == 1)
        } else {
            #expect(throws: MalformedMessage.self) { try RemovalDocument.read(body) }
        }
    }

    @Test("It is served as it stands, also to who shows no certificate", .timeLimit(.minutes(1)))
    func served() async throws {
        let bytes = try [UInt8](Self.bytes())
        try await Office.open { office in
            let answer = try await office.get("/v1/openapi.json", ["X-Client-Cert": "", "Accept-Encoding": "gzip"])
            #expect(answer.status == 200 && answer.bytes == bytes)
            #expect(answer.headers.first(name: "Content-Type") == ChannelHeader.json)
            #expect(answer.headers.first(name: "Content-Encoding") == nil, "no work for strangers")
        }
    }
}

@Suite("Packing")
struct GzipTests {
    @Test("What was packed is unpacked, and a small bomb is not", arguments: [0, 1, 1_000, 1 << 20])
    func roundTrip(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let packed = try #require(Gzip.pack(bytes))
        #expect(try Gzip.unpack(packed, limit: count) == bytes)
        if count > 0 {
            #expect(throws: Gzip.Failure.self) { try Gzip.unpack(packed, limit: count - 1) }
            #expect(throws: Gzip.Failure.self) { try Gzip.unpack(Array(packed.dropLast()), limit: count) }
        }
        #expect(throws: Gzip.Failure.self) { try Gzip.unpack(packed + [0], limit: count) }
        #expect(throws: Gzip.Failure.self) { try Gzip.unpack([1, 2, 3], limit: 10) }
    }
}
