import Foundation
import HTTPCoding
@testable import LocalAPIServer
import NIOCore
import NIOHTTP1
import Testing

@testable import LocalAPI

/// Who sends requests is told what to send, and who types commands what to type.
@Suite(.timeLimit(.minutes(1)))
struct RequestWordsTests {
    static let sentences: [(said: String, told: String)] = [
        (
            "There is no item '7' in this job; 'muster item list' shows the items.",
            "There is no item '7' in this job; 'GET /v1/jobs/{job}/items' shows the items."
        ),
        (
            "Job Elm is here already; 'muster job show Elm' shows it.",
            "Job Elm is here already; 'GET /v1/jobs/Elm' shows it."
        ),
        (
            "'muster job late Elm' shows 2 changes that came too late.",
            "'GET /v1/jobs/Elm/late' shows 2 changes that came too late."
        ),
        (
            "'muster queue list' and 'muster queue log' show their tokens.",
            "'GET /v1/queue' and 'GET /v1/queue/log' show their tokens."
        ),
        ("'muster' is no job, nor is 'muster x'.", "'muster' is no job, nor is 'muster x'."),
        ("'a --force' is no quantity; add --force.", "'a --force' is no quantity; add force=true to the query."),
    ]

    @Test("Commands are told as requests; whatever is none is left", arguments: sentences.indices)
    func told(index: Int) {
        let (said, told) = Self.sentences[index]
        #expect(CallerWords.requests.told(said) == told)
        #expect(CallerWords.commands.told(said) == said)
    }

    @Test("A refusal says what to send, and to muster what to type, also of one row among many")
    func refusals() async throws {
        let quantity = FieldsRequest(fields: ["quantity": "abc"])
        try await withDaemon(try await Scene().answers) { socket in
            try await LocalClient.with(socketPath: socket) { client in
                func problem(
                    _ path: [String], _ body: any Encodable & Sendable, _ words: CallerWords
                ) async throws -> String {
                    let headers = [(CallerWords.headerName, words.rawValue)]
                    let answer = try await client.answer(.POST, path, body: body, headers: headers)
                    return String(buffer: answer.body)
                }
                let job = ["jobs", Scene.jobID]
                for (path, body) in [
                    (job + ["items"], quantity as any Encodable & Sendable),
                    (job + ["import"], ItemBatch(items: [quantity])),
                ] {
                    let sent = try await problem(path, body, .requests)
                    #expect(sent.contains("add force=true to the query") && !sent.contains("--"))
                    #expect(try await problem(path, body, .commands).contains("add --force if it is meant"))
                }
                let unknown = await #expect(throws: APIError.self) { try await client.job("nobody") }
                #expect(unknown?.message.contains("'muster job list'") == true)
            }
        }
    }

    /// Where sentences come from that the local API answers with.
    static let places = [
        "Identity/Carrying", "Identity/Certificates", "Inventory", "LocalAPIServer", "Node/Carrying", "Node/Fleet",
        "Node/Service", "Node/Addresses", "Outbox", "Storage", "Engine",
    ]
    /// What is never an answer, or is about what only commands do: logs, starting, what people read of the laptop's health, and the root.
    static let others = [
        "LocalAPIServer/SocketFile.swift", "LocalAPIServer/MetricsServer.swift", "LocalAPIServer/RequestWords.swift",
        "Node/Service/Health/",
        "Storage/Opening/StoreOpening.swift", "Identity/Certificates/Revocation.swift",
        "Node/Fleet/JobAssignments+Cutoffs.swift", "Node/Fleet/FleetIdentity+Register.swift",
    ]

    @Test("Every command that a refusal names has a request", arguments: places)
    func complete(place: String) throws {
        let sources = OpenAPITests.file.deletingLastPathComponent().deletingLastPathComponent()
        let folder = sources.appending(path: place).path
        var seen = 0
        let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        for file in files where file.hasSuffix(".swift") {
            let path = "\(place)/\(file)"
            guard !Self.others.contains(where: path.hasPrefix) else { continue }
            seen += 1
            let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
            for line in text.split(separator: "\n") where line.contains("\"") && !line.contains("// ") {
                let told = CallerWords.requests.told(String(line))
                #expect(told.firstMatch(of: /'muster [a-z]|[ (]--[a-z]/) == nil, "\(path): \(line)")
            }
        }
        #expect(seen > 0)
    }
}
