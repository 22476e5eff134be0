import LocalAPI
import Testing

@testable import Node

/// Commands about items, where what was typed is easily meant otherwise.
@Suite(.timeLimit(.minutes(2)))
struct ItemCommandTests {
    private let scene: ImportScene

    init() async throws {
        scene = try await ImportScene()
        #expect(try await scene.run("barcode,name,room\n1,Sofa,\n2,Lamp,Hall\n3,Rug,Den\n").exitCode == 0)
        #expect(try await scene.muster(["item", "set", "Rows", "3", "room="]).exitCode == 0)
    }

    @Test(
        "Items without a value are those whose field was emptied, and those that never had one",
        arguments: [[], ["--json"]])
    func without(options: [String]) async throws {
        let found = try await scene.muster(["item", "list", "Rows", "room="] + options)
        #expect(found.exitCode == 0 && !found.output.contains("Lamp"))
        #expect(found.output.contains("Sofa") && found.output.contains("Rug"))
        let both = try await scene.muster(["item", "list", "Rows", "room=", "name=Sofa"] + options)
        #expect(both.output.contains("Sofa") && !both.output.contains("Rug"))
    }

    @Test(
        "A mistyped name does not find all items because none of them has it",
        arguments: [
            ["list", "Rows", "rom="], ["list", "Rows", "rom=", "--json"],
            ["remove", "Rows", "--where", "rom=", "--yes"],
        ])
    func mistyped(words: [String]) async throws {
        let refused = try await scene.muster(["item"] + words)
        #expect(refused.exitCode == 65 && refused.output.isEmpty)
        #expect(refused.error == "muster: No item of this job has a field 'rom'; did you mean 'room'?\n")
        #expect(try await scene.items().count == 3)
    }

    @Test("What has no value is removed as it is listed")
    func removedWithout() async throws {
        #expect(try await scene.muster(["item", "remove", "Rows", "--where", "room=", "--yes"]).exitCode == 0)
        #expect(try await scene.names() == ["Lamp"])
    }

    @Test("Columns that name none are refused", arguments: [",", "", " , "])
    func noColumns(names: String) async throws {
        for words in [["item", "list", "Rows"], ["job", "list"]] {
            let refused = try await scene.muster(words + ["--columns", names])
            #expect(refused.exitCode == 64 && refused.output.isEmpty)
            #expect(refused.error.hasPrefix("muster: --columns names no column; there are id, "))
        }
    }

    @Test("A removal says what is missing, and what is too much")
    func unnamed() async throws {
        let missing = try await scene.muster(["item", "remove", "Rows", "--yes"])
        #expect(
            missing.exitCode == 64
                && missing.error.hasPrefix("muster: Name the items to remove, or give --where FIELD=VALUE. "))
        let both = try await scene.muster(["item", "remove", "Rows", "1", "--where", "room=Hall", "--yes"])
        #expect(both.exitCode == 64 && both.error.contains("not both. "))
        #expect(try await scene.items().count == 3)
    }

    @Test("Every list of a group has the short name", arguments: ["job", "queue", "peers", "fleet", "session"])
    func short(group: String) async throws {
        #expect(try await scene.muster([group, "ls"]).exitCode == 0)
    }

    @Test("Of two forms of an output one is refused, and not left out")
    func twoForms() async throws {
        for words in [
            ["job", "export", "Rows", "--format", "csv", "--json"], ["metrics", "--prometheus", "--json"],
            ["metrics", "--prometheus", "--wide"],
        ] {
            let refused = try await scene.muster(words)
            #expect(refused.exitCode == 64 && refused.output.isEmpty && refused.error.contains(" out. See"))
        }
        #expect(try await scene.muster(["job", "export", "Rows", "--format", "history", "--json"]).exitCode == 0)
    }

    @Test("An address that nobody has added is what is wrong, and not the program")
    func unknownPeer() async throws {
        let refused = try await scene.muster(["peers", "remove", "192.168.1.21"])
        #expect(refused.exitCode == 65 && refused.error.contains("192.168.1.21:7473 was not added on this laptop"))
    }
}
