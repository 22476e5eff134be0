import LocalAPI

@testable import Node

/// A job, `Rows`, into which `muster import` brings tables.
struct ImportScene {
    let directory: TemporaryDirectory
    let scene: Scene

    init() async throws {
        directory = try TemporaryDirectory()
        scene = try await Scene()
        _ = try await scene.service.createJob(CreateJobRequest(name: "Rows", id: "Rows"))
    }

    /// Of a file that lies there.
    func run(file: String, _ options: [String] = []) async throws -> MusterProcess.Outcome {
        try await muster(["import", "Rows", file] + options)
    }

    /// Of a file with this text.
    func run(_ text: String, _ options: String..., to name: String = "rows.csv") async throws -> MusterProcess.Outcome {
        try await run(file: directory.write(text, to: name), options)
    }

    /// Any command.
    func muster(_ words: [String]) async throws -> MusterProcess.Outcome {
        try await withDaemon(scene.answers) { try await MusterProcess.run(words, socket: $0) }
    }

    func items() async throws -> [ItemView] { try await scene.items("Rows") }

    func names() async throws -> [String] { try await items().compactMap { $0.fields["name"] }.sorted() }
}
