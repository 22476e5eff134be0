import LocalAPI
import Testing

@testable import Node

/// What is looked at before it goes.
@Suite("Previews of removals", .timeLimit(.minutes(1)))
struct RemovalPreviewTests {
    @Test("A preview removes nothing, and tells the tag under which exactly that can go")
    func preview() async throws {
        let scene = try await Scene()
        let before = try await scene.items().count
        try await withDaemon(scene.answers) { socket in
            try await LocalClient.with(socketPath: socket) { client in
                let request = RemovalRequest(items: Array(Scene.itemIDs[0...1]), isConfirmed: true)
                let (told, tag) = try await client.previewRemoval(request, job: Scene.jobID)
                #expect(told.removed.count == 2 && tag?.hasPrefix("\"") == true)
                #expect(try await scene.items().count == before)
                _ = try await client.setFields(
                    FieldsRequest(fields: ["room": "Hall"]), item: Scene.itemIDs[0], job: Scene.jobID)
                let refusal = await #expect(throws: APIError.self) {
                    try await client.removeItems(request, job: Scene.jobID, ifMatch: tag)
                }
                #expect(refusal?.code == .preconditionFailed)
                #expect(try await scene.items().count == before)
                let (_, next) = try await client.previewRemoval(request, job: Scene.jobID)
                #expect(try await client.removeItems(request, job: Scene.jobID, ifMatch: next).removed.count == 2)
            }
        }
        #expect(try await scene.items().count == before - 2)
    }
}
