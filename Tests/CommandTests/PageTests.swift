import Foundation
import HTTPCoding
import NIOCore
import NIOHTTP1
import Testing

@testable import LocalAPI
@testable import Node

/// Lists, part by part.
@Suite(.timeLimit(.minutes(1)))
struct PageTests {
    static let lists: [[String]] = [
        ["peers"], ["addresses"], ["metrics"], ["catalogue"], ["fleet", "devices"],
        ["jobs"], ["queue"], ["queue", "log"], ["jobs", Scene.jobID, "items"],
        ["jobs", Scene.jobID, "log"], ["jobs", Scene.jobID, "roster"], ["jobs", Scene.removedJobID, "late"],
    ]

    private struct Part {
        let elements: NSArray
        let next: String?
        let status: UInt
    }

    private static func part(
        _ client: LocalClient, _ path: [String], _ query: [(String, String)]
    ) async throws -> Part {
        let answer = try await client.answer(.GET, path, query: query)
        let value = try JSONSerialization.jsonObject(with: Data(answer.body.readableBytesView))
        return Part(
            elements: value as? NSArray ?? [], next: answer.headers.first(name: "Link"), status: answer.status.code)
    }

    /// The cursor in `</v1/…?limit=1&after=X>; rel="next"`.
    private static func cursor(_ link: String, of path: [String]) throws -> String {
        let target = try #require(link.split(separator: ">").first).dropFirst()
        #expect(target.hasPrefix("/v1/" + path.joined(separator: "/") + "?") && link.hasSuffix("; rel=\"next\""))
        let query = QueryParameters(String(target.split(separator: "?")[1]))
        #expect(query?.values(of: "limit") == ["1"])
        return try #require(query?.values(of: "after").first)
    }

    @Test("The parts of a list are the list: nothing is left out, and nothing comes twice", arguments: lists)
    func parts(path: [String]) async throws {
        let scene = try await Scene()
        try await withDaemon(scene.answers) { socket in
            try await LocalClient.with(socketPath: socket) { client in
                let whole = try await Self.part(client, path, [])
                #expect(whole.next == nil)
                if path != ["fleet", "devices"] { #expect(whole.elements.count > 1) }
                // What is read of the end is the end in this list.
                let isOfEnd = path == ["queue", "log"]
                var elements: [Any] = isOfEnd ? [whole.elements[0]] : []
                var after: [(String, String)] = []
                if isOfEnd {
                    let first = try #require(whole.elements[0] as? [String: Any])
                    let (token, attempt) = (try #require(first["token"]), try #require(first["attempt"]))
                    after = [("after", "attempts.\(token)-\(attempt)")]
                }
                while true {
                    let part = try await Self.part(client, path, [("limit", "1")] + after)
                    #expect(part.status == 200 && part.elements.count <= 1)
                    elements += part.elements.map { $0 }
                    guard let next = part.next, elements.count <= whole.elements.count else { break }
                    after = [("after", try Self.cursor(next, of: path))]
                }
                #expect(elements as NSArray == whole.elements)
                guard whole.elements.count > 1, !isOfEnd else { return }
                let rest = try await Self.part(client, path, after)
                #expect(rest.elements.count == 1 && rest.next == nil, "without a limit the rest comes")
            }
        }
    }

    @Test("A cursor of another list is refused, also where a list goes on behind any")
    func otherList() async throws {
        try await withDaemon(try await Scene().answers) { socket in
            try await LocalClient.with(socketPath: socket) { client in
                let items = ["jobs", Scene.jobID, "items"]
                let link = try #require(try await Self.part(client, items, [("limit", "1")]).next)
                let after = [("after", try Self.cursor(link, of: items))]
                #expect(try await Self.part(client, items, after).status == 200)
                for path in Self.lists where path != items {
                    let answer = try await client.answer(.GET, path, query: after)
                    #expect(answer.status.code == 410, "\(path)")
                }
            }
        }
    }

    @Test("A limit that is none, and a cursor that the list does not have, are refused")
    func refused() async throws {
        try await withDaemon(try await Scene().answers) { socket in
            try await LocalClient.with(socketPath: socket) { client in
                var codes: [UInt] = []
                for query in [("limit", "0"), ("limit", "1001"), ("limit", "x"), ("after", "nobody")] {
                    for path in [["queue"], ["jobs", Scene.jobID, "log"], ["jobs", Scene.jobID, "items"]] {
                        codes.append(try await client.answer(.GET, path, query: [query]).status.code)
                    }
                }
                #expect(codes == Array(repeating: 400, count: 9) + Array(repeating: 410, count: 3))
            }
        }
    }

    @Test("A list that ascends goes on behind an element that is gone, and filters hold for each part")
    func gone() async throws {
        let scene = try await Scene()
        try await withDaemon(scene.answers) { socket in
            try await LocalClient.with(socketPath: socket) { client in
                let items = ["jobs", Scene.jobID, "items"]
                let all = try await Self.part(client, items, []).elements.count
                _ = try await scene.service.removeItem(Scene.itemIDs[0], job: Scene.jobID)
                let rest = try await Self.part(client, items, [("after", "items.\(Scene.itemIDs[0])")])
                #expect(rest.elements.count == all - 1)
                let none = try await Self.part(client, items, [("limit", "5"), ("where", "room=Nowhere")])
                #expect(none.status == 200 && none.elements.count == 0 && none.next == nil)
            }
        }
    }
}
