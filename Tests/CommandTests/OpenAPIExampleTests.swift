import Foundation
@testable import LocalAPIServer
import Testing

@testable import LocalAPI

/// The examples of the OpenAPI document: what a developer reads first, and what schemathesis begins with.
///
/// Those of answers are what the daemon answers in the scene: `MUSTER_RECORD=1` writes each that is missing, or does not fit any more.
@Suite(.timeLimit(.minutes(2)))
struct OpenAPIExampleTests {
    /// Whoever tries one of these would do harm, or learn nothing.
    static let withoutExample: [String: String] = [
        "confirmed": "it ends a job", "Idempotency-Key": "each request has its own", "after": "Link names it",
    ]

    /// A part of the document that has examples, with where it stands.
    private struct Media {
        let place: String
        /// Of an answer.
        let operationID: String?
        let content: [String: Any]
    }

    private let schemas: SchemaCheck
    private let operations: [(place: String, value: [String: Any])]

    init() throws {
        schemas = SchemaCheck(document: try OpenAPITests.document())
        operations = schemas.resolve("#/paths").flatMap { path, item in
            (item as? [String: Any] ?? [:]).compactMap { method, operation in
                (operation as? [String: Any]).map { ("\(method.uppercased()) \(path)", $0) }
            }
        }
    }

    /// What has no example is a file, which nobody reads.
    private static func isFile(_ mediaType: String) -> Bool {
        ["application/octet-stream", "application/vnd.sqlite3"].contains(mediaType)
    }

    /// Bodies, and answers that are no refusal.
    private var media: [Media] {
        operations.flatMap { place, operation in
            var media: [Media] = []
            func add(_ holder: Any?, _ name: String, of id: String? = nil) {
                let content = (holder as? [String: Any])?["content"] as? [String: [String: Any]] ?? [:]
                for (type, value) in content where !Self.isFile(type) {
                    media.append(Media(place: "\(place) \(name) \(type)", operationID: id, content: value))
                }
            }
            add(operation["requestBody"], "body")
            let responses = operation["responses"] as? [String: [String: Any]] ?? [:]
            for (status, response) in responses where status != "default" {
                add(response, status, of: operation["operationId"] as? String)
            }
            return media
        }
    }

    private static func recordings(in content: [String: Any]) -> [String] {
        let named = content["examples"] as? [String: [String: Any]] ?? [:]
        return named.values.compactMap { $0["$ref"] as? String }.map { String($0.split(separator: "/").last ?? "") }
    }

    private func example(of content: [String: Any]) -> Any? {
        guard let named = content["examples"] as? [String: [String: Any]], let first = named.values.first else {
            return content["example"]
        }
        return (first["$ref"] as? String).map(schemas.resolve)?["value"] ?? first["value"]
    }

    @Test("Every body and every good answer has an example that fits")
    func examples() throws {
        #expect(media.count > 80)
        for media in media {
            let example = try #require(self.example(of: media.content), "\(media.place): see MUSTER_RECORD")
            let schema = try #require(media.content["schema"] as? [String: Any], "\(media.place)")
            // A stream is text.
            guard !media.place.hasSuffix("text/event-stream") else { continue }
            #expect(schemas.problems(example, schema) == [], "\(media.place)")
            #expect(schemas.undocumented(example, schema) == [], "\(media.place)")
        }
        let problem = try #require(schemas.resolve("#/components/responses/Problem")["content"] as? [String: Any])
        let content = try #require(problem[Problem.mediaType] as? [String: Any])
        let value = try #require(self.example(of: content))
        let told = try JSONDecoder().decode(Problem.self, from: JSONSerialization.data(withJSONObject: value))
        #expect(Problem(told.error) == told)
    }

    @Test("Every parameter has an example, but for those of which none can be tried")
    func parameters() throws {
        var all = schemas.resolve("#/components/parameters").values.compactMap { $0 as? [String: Any] }
        for (_, item) in schemas.resolve("#/paths") {
            all += (item as? [String: Any])?["parameters"] as? [[String: Any]] ?? []
        }
        for (_, operation) in operations { all += operation["parameters"] as? [[String: Any]] ?? [] }
        let own = all.filter { $0["$ref"] == nil }
        #expect(own.count > 20)
        for parameter in own {
            let name = try #require(parameter["name"] as? String)
            guard Self.withoutExample[name] == nil else { continue }
            let example = try #require(parameter["example"], "\(name)")
            let schema = try #require(parameter["schema"] as? [String: Any])
            // SchemaCheck knows no anyOf.
            #expect(schema["anyOf"] != nil || schemas.problems(example, schema) == [], "\(name)")
        }
    }

    @Test("What is recorded is an example of something, and each is")
    func recorded() async throws {
        let wanted = Set(media.flatMap { Self.recordings(in: $0.content) })
        if Snapshot.isRecording { return try await record(wanted) }
        #expect(Set(schemas.resolve("#/components/examples").keys) == wanted)
    }

    // MARK: Recording

    private func record(_ wanted: Set<String>) async throws {
        var examples = schemas.resolve("#/components/examples").filter { wanted.contains($0.key) }
        for operation in OpenAPITests.answering {
            let documented = operations.first { $0.place == operation.testDescription }?.value
            guard let id = documented?["operationId"] as? String, wanted.contains(id) else { continue }
            let isKept = media.filter { $0.operationID == id }.allSatisfy { media in
                guard let value = example(of: media.content), let schema = media.content["schema"] as? [String: Any]
                else { return false }
                return schemas.problems(value, schema) == [] && schemas.undocumented(value, schema) == []
            }
            if isKept { continue }
            let scene = try await Scene()
            let (_, mediaType, body) = try await withDaemon(scene.answers) { socket in
                try await OpenAPITests.request(operation, socket, scene)
            }
            let isLines = mediaType == "application/x-ndjson"
            let text = isLines ? Array(body.prefix { $0 != UInt8(ascii: "\n") }) : body
            examples[id] = ["value": Self.short(try JSONSerialization.jsonObject(with: Data(text)))]
        }
        var text = try String(contentsOf: OpenAPITests.file, encoding: .utf8)
        let start = try #require(text.range(of: "\n    \"examples\": {", options: .backwards))
        text.removeSubrange(start.lowerBound...)
        text += "\n    \"examples\": " + JSONLines.text(examples, indentation: 4) + "\n  }\n}\n"
        try text.write(to: OpenAPITests.file, atomically: true, encoding: .utf8)
    }

    /// Two of each list, and the beginning of what is long.
    private static func short(_ value: Any) -> Any {
        switch value {
        case let list as [Any]: list.prefix(2).map(short)
        case let object as [String: Any]: object.mapValues(short)
        case let text as String where text.count > 200: String(text.prefix(60)) + "…"
        default: value
        }
    }
}

/// JSON as the document has it: what fits stands in one line.
private enum JSONLines {
    static func text(_ value: Any, indentation: Int) -> String {
        let flat = flat(value)
        if flat.count + indentation <= 110 { return flat }
        let inner = String(repeating: " ", count: indentation + 2)
        let outer = String(repeating: " ", count: indentation)
        if let list = value as? [Any] {
            let lines = list.map { inner + text($0, indentation: indentation + 2) }
            return "[\n\(lines.joined(separator: ",\n"))\n\(outer)]"
        }
        guard let object = value as? [String: Any], !object.isEmpty else { return flat }
        let lines = object.sorted { $0.key < $1.key }.map {
            "\(inner)\(JSONLines.flat($0.key)): \(text($0.value, indentation: indentation + 2))"
        }
        return "{\n\(lines.joined(separator: ",\n"))\n\(outer)}"
    }

    private static func flat(_ value: Any) -> String {
        if let list = value as? [Any] { return "[\(list.map(flat).joined(separator: ", "))]" }
        if let object = value as? [String: Any] {
            let members = object.sorted { $0.key < $1.key }.map { "\(flat($0.key)): \(flat($0.value))" }
            return "{\(members.joined(separator: ", "))}"
        }
        let options: JSONSerialization.WritingOptions = [.fragmentsAllowed, .withoutEscapingSlashes]
        let data = (try? JSONSerialization.data(withJSONObject: value, options: options)) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }
}
