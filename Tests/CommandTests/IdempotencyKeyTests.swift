import HTTPTypes
import LocalAPIServer
import NIOCore
import NIOHTTP1
import Storage
import Testing

@testable import LocalAPI
@testable import Node

/// `Idempotency-Key` on a real server.
@Suite(.timeLimit(.minutes(1)))
struct IdempotencyKeyTests {
    private static let item: [String] = ["jobs", Scene.jobID, "items", Scene.itemIDs[0]]

    private struct Attempt: Sendable {
        let method: HTTPMethod
        let path: [String]
        let body: (any Encodable & Sendable)?
    }

    private static let attempts: [Attempt] = [
        Attempt(method: .POST, path: ["jobs"], body: CreateJobRequest(name: "Jones")),
        Attempt(method: .POST, path: ["jobs", Scene.jobID, "items"], body: FieldsRequest(fields: ["name": "Rug"])),
        Attempt(method: .POST, path: item + ["notes"], body: NoteRequest(text: "torn")),
        Attempt(method: .PATCH, path: item, body: FieldsRequest(fields: ["room": "Den"])),
        Attempt(method: .DELETE, path: item, body: nil),
        Attempt(method: .POST, path: ["jobs", Scene.jobID, "items", Scene.removedItemID, "restore"], body: nil),
        Attempt(
            method: .POST, path: ["jobs", Scene.jobID, "removals"], body: RemovalRequest(items: [Scene.itemIDs[1]])),
        Attempt(method: .POST, path: ["jobs", Scene.jobID, "state"], body: AdvanceRequest(state: "completed")),
        Attempt(method: .POST, path: ["jobs", Scene.jobID, "signature"], body: SignOffRequest(name: "J. Smith")),
        Attempt(
            method: .POST, path: ["jobs", Scene.jobID, "import"],
            body: ItemBatch(items: [FieldsRequest(fields: ["name": "Box"])])),
        Attempt(method: .POST, path: ["queue", "pause"], body: LaneRequest()),
        Attempt(method: .PATCH, path: ["jobs", Scene.jobID], body: RenameJobRequest(name: "Jones")),
    ]

    /// What a job holds, and what waits: nothing of it may come twice.
    private static func world(_ scene: Scene) async throws -> [String] {
        let jobs = try await scene.service.jobs()
        var world = jobs.map { "\($0.id) \($0.items) \($0.removed)" }
        for job in jobs {
            let vector = try await scene.service.job(job.id, makesDigest: false).vector
            world += vector.map { "\($0.key) \($0.value)" }.sorted()
        }
        return world + (try await scene.service.queue().map(\.token))
    }

    @Test("The same key with another query is another request")
    func otherQuery() async throws {
        try await withDaemon(try await Scene().answers) { socket in
            try await LocalClient.with(socketPath: socket) { client in
                var codes: [UInt] = []
                for query in [[("force", "true")], [("force", "false")], [], [("force", "true")]] {
                    let answer = try await client.answer(
                        .POST, ["jobs", Scene.jobID, "items"], query: query,
                        body: FieldsRequest(fields: ["name": "Rug"]), headers: [("Idempotency-Key", "k-1")])
                    codes.append(answer.status.code)
                }
                #expect(codes == [201, 422, 422, 201])
            }
        }
    }

    @Test(
        "Sent twice it is done once, and answered alike, also when the answer was never kept",
        arguments: attempts.indices)
    func twice(index: Int) async throws {
        let attempt = Self.attempts[index]
        let scene = try await Scene()
        try await withDaemon(scene.answers) { socket in
            try await LocalClient.with(socketPath: socket) { client in
                func send() async throws -> (UInt, [UInt8]) {
                    let answer = try await client.answer(
                        attempt.method, attempt.path, body: attempt.body, headers: [("Idempotency-Key", "k-1")])
                    return (answer.status.code, Array(answer.body.readableBytesView))
                }
                let first = try await send()
                #expect((200..<300).contains(first.0), "\(String(decoding: first.1, as: UTF8.self))")
                let world = try await Self.world(scene)
                let second = try await send()
                #expect(second == first)
                #expect(try await Self.world(scene) == world)
                // As if the daemon had been killed between the two.
                try await scene.service.store.forgetAnswers()
                let third = try await send()
                #expect(third == first)
                #expect(try await Self.world(scene) == world)
            }
        }
    }

    @Test("A key that is none is refused, and so is one of another request")
    func refused() async throws {
        try await withDaemon(try await Scene().answers) { socket in
            try await LocalClient.with(socketPath: socket) { client in
                func status(_ key: String, _ name: String = "Rug") async throws -> UInt {
                    let answer = try await client.answer(
                        .POST, ["jobs", Scene.jobID, "items"], body: FieldsRequest(fields: ["name": name]),
                        headers: [("Idempotency-Key", key)])
                    return answer.status.code
                }
                let long = String(repeating: "k", count: 256)
                let codes = [
                    try await status("two words"), try await status(long), try await status("k"),
                    try await status("k", "Lamp"),
                ]
                #expect(codes == [400, 400, 201, 422])
            }
        }
    }
}
