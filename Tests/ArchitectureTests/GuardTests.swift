import Testing

/// A guard that never fires looks like a tree without faults: each rule is shown a planted violation.
@Suite("The guard catches what it guards against")
struct GuardTests {
    @Test(
        "A forbidden import is found, in whatever way it is written",
        arguments: [
            ("Sources/CRDT/A.swift", "import Foundation"),
            ("Sources/CRDT/A.swift", "package import Inventory"),
            ("Sources/Inventory/A.swift", "import struct Foundation.Date"),
            ("Sources/Replication/A.swift", "@preconcurrency internal import NIOCore"),
            ("Sources/muster/A.swift", "import Storage"),
            ("Sources/Identity/A.swift", "import Foundation"),
            ("Sources/Transport/A.swift", "public import Storage"),
            ("Sources/ChannelServer/A.swift", "import LocalAPI"),
            ("Sources/HTTPCoding/A.swift", "package import LocalAPI"),
            ("Sources/Unheard/A.swift", "import CRDT"),
        ])
    func plantedImport(path: String, line: String) {
        let planted = SourceFile(path: path, text: "// A comment.\n\(line)\n")
        #expect(forbiddenImports(in: planted).count == 1)
    }

    @Test("Allowed imports and prose about imports pass")
    func allowedImport() {
        let text = "/// import Foundation\nimport CRDT\nlet text = \"import NIOCore\"\n"
        #expect(forbiddenImports(in: SourceFile(path: "Sources/Inventory/A.swift", text: text)) == [])
    }

    @Test("A declaration without a documentation comment is found, and one that has it passes")
    func plantedBareDeclaration() {
        let text = """
            /// What it is.
            package struct A {
                package private(set) var bare = 0
                /// How many.
                @usableFromInline
                package let documented: Int
                // Not documentation.
                package static func alsoBare() {}
                let nobodySees = 1
            }
            package extension A {}
            """
        let found = Documentation([SourceFile(path: "Sources/M/A.swift", text: text)])
        #expect(found.declared == 4)
        #expect(found.bare.map(\.line) == [3, 8])
        #expect(found.documentedPercent == 50)
    }

    @Test("Two folders that use each other are found, and one that only uses the other passes")
    func plantedEdges() throws {
        let files = [
            SourceFile(path: "Sources/M/A/One.swift", text: "struct One { let two: Two }\n"),
            SourceFile(path: "Sources/M/B/Two.swift", text: "package final class Two {\n    let one: One?\n}\n"),
            SourceFile(
                path: "Sources/M/C/Three.swift", text: "// One\nstruct Three { let text = \"Two\"; let one: One }\n"),
            SourceFile(path: "Sources/M/Root.swift", text: "struct Root { let three: Three }\n"),
        ]
        #expect(try FolderEdges(files).bothWays == ["M: A uses Two of B, which uses One"])
        #expect(try FolderEdges(Array(files.dropFirst())).bothWays == [])
    }

    @Test("A dependency that nobody imports is found, and an import that nobody declares, in tests as well")
    func plantedMismatch() throws {
        let text = """
            let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
            let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
            .systemLibrary(name: "CThing"),
            .target(name: "A", dependencies: ["B", "C", grdb, logging]),
            .executableTarget(name: "a-program", dependencies: ["A"], path: "Tests/Program"),
            .testTarget(name: "ATests", dependencies: ["A", "a-program", "B"]),
            """
        let files = [
            SourceFile(path: "Sources/A/A.swift", text: "import Swift\npackage import B\n// import C\nimport GRDB\n"),
            SourceFile(path: "Sources/A/Folder/A.swift", text: "import Foundation\nimport NIOCore\n"),
            SourceFile(path: "Tests/Program/main.swift", text: "import A\n"),
            SourceFile(path: "Tests/ATests/ATests.swift", text: "import Testing\n@testable import A\nimport D\n"),
        ]
        #expect(
            try PackageManifest(text: text).mismatches(with: files) == [
                "A declares C, which it does not import", "A declares Logging, which it does not import",
                "A imports NIOCore, which it does not declare", "ATests declares B, which it does not import",
                "ATests imports D, which it does not declare",
            ])
    }

    @Test(
        "A banned call in a pure module is found",
        arguments: [
            "let now = Date()", "let now = clock.now", "let now: Instant = .now", "let clock = ContinuousClock()",
            "let die = Int.random(in: 1...6)", "let die = Int.random(in: 1...max(1, sides))",
            "let order = peers.shuffled()", "peers.shuffle()", "let one = peers.randomElement()",
            "var rng = SystemRandomNumberGenerator()", "let id = UUID()", "let key = name.hashValue",
            "var hasher = Hasher()", "Task { }", "Task.yield()", "let value = await store.read()",
            "func read() async {}",
            "actor Store {}", "print(value)", "let text = \"\\\"\" + id.hashValue.description",
        ])
    func plantedCall(line: String) throws {
        let planted = SourceFile(path: "Sources/CRDT/A.swift", text: "\n\(line)\n")
        let found = try violations(of: bannedInPureModules, in: planted)
        #expect(found.map(\.line) == [2])
    }

    @Test(
        "What only looks like a banned call passes",
        arguments: [
            "let die = Int.random(in: 1...max(1, sides), using: &rng)", "peers.shuffle(using: &rng)",
            "let order = peers.shuffled(using: &rng)", "// Date() would be wrong here",
            "/* await /* Task */ print() */",
            "let text = \"await Date()\"", "let text = #\"say \"print(1)\" twice\"#", "blueprint(of: house)",
            "var tasks = [Tasked]()", "let text = \"\"\"\n  a \"Task\" is not here\n  \"\"\"", "onTick(now: now)",
            "mesh.onTick(now: world.now)",
        ])
    func innocentCall(line: String) throws {
        let innocent = SourceFile(path: "Sources/CRDT/A.swift", text: line)
        #expect(try violations(of: bannedInPureModules, in: innocent) == [])
    }

    @Test(
        "A forced way out, a public declaration and a function in a Mutex are found",
        arguments: [
            "let a = try! read()", "let a = b as! Int", "let a = b!", "let a = f()!.c", "let a = list[0]!",
            "var a: Int!", "public struct A {}", "open class A {}",
            "let a = Mutex<(@Sendable () -> Void)?>(nil)", "let a: Mutex<((Int) -> Void)?>",
        ])
    func plantedForce(line: String) throws {
        let planted = SourceFile(path: "Sources/Node/A.swift", text: line)
        #expect(try violations(of: bannedInAllSources, in: planted).count == 1)
    }

    @Test(
        "Negation, inequality, words and imports that look like force pass",
        arguments: [
            "if a != b, !c { }", "return !isOpen", "x = \"stop!\"", "public import CRDT", "if a!=b { }",
            "let open = isOpen", "case .open:", "func open(path: String) {}",
        ])
    func innocentForce(line: String) throws {
        let innocent = SourceFile(path: "Sources/Node/A.swift", text: line)
        #expect(try violations(of: bannedInAllSources, in: innocent) == [])
    }

    @Test("A retired word is found in code, and not in prose or in a longer word")
    func retiredWord() throws {
        let glossary = try Glossary("| name | is | was |\n| --- | --- | --- |\n| batch | `x` | `Hope`, `hope` |\n")
        #expect(glossary.retired == ["Hope", "hope"])
        let text = "let hope = 1 // hope\nlet hopeful = \"hope\"\nstruct Hope {}\n"
        let found = try glossary.retiredWords(in: SourceFile(path: "Sources/A/B.swift", text: text))
        #expect(found.map(\.line).sorted() == [1, 3])
    }

    @Test("A dependency against the direction is found in Package.swift")
    func plantedDependency() throws {
        let text = """
            .target(name: "CRDT", dependencies: ["Storage"]),
            .executableTarget(name: "muster", dependencies: [
                "LocalAPI", arguments,
            ]),
            .target(name: "Stray"),
            .testTarget(name: "CRDTTests", dependencies: ["Node"]),
            """
        let found = try PackageManifest(text: text).violations(of: moduleRules)
        #expect(found.count == 2)
        #expect(found.first?.hasPrefix("CRDT may not depend on Storage") == true)
        #expect(found.last?.hasPrefix("Stray is not in the table") == true)
    }

    @Test("A file that is too long is found, and an exception that is no longer needed")
    func plantedLength() {
        let long = SourceFile(path: "Sources/Node/A.swift", text: String(repeating: "\n", count: 400))
        let prose = SourceFile(path: "Notes.md", text: String(repeating: "\n", count: 4000))
        let generated = SourceFile(path: "Sources/Node/A.pb.swift", text: String(repeating: "\n", count: 4000))
        #expect(lengthViolations(of: [long, prose, generated], exceptions: [:]).map(\.path) == [long.path])
        #expect(lengthViolations(of: [long], exceptions: [long.path: 400]) == [])
        #expect(lengthViolations(of: [long], exceptions: [long.path: 399]).count == 1)
        #expect(lengthViolations(of: [long], exceptions: [long.path: 500]).count == 1)
        #expect(lengthViolations(of: [], exceptions: [long.path: 500]).count == 1)
    }

    @Test(
        "A folder of one machine and an unknown host are found",
        arguments: [
            "cd /home/jo/muster", "path = \"/root/x\"", "see https://registry.corp-net.io/simple",
            "(http://10-0-0-1.proxy.net:8081)",
        ])
    func plantedPlace(line: String) throws {
        #expect(try foreignPlaces(in: SourceFile(path: "Tests/run", text: line)).count == 1)
    }

    @Test(
        "Relative paths, system paths and public hosts pass",
        arguments: [
            "https://github.com/apple/swift-nio", "/usr/bin/python3", "Sources/work/A", "http://127.0.0.1:80/",
            "http://laptop.example/home/page", "$root/x", "~/.local/state/muster",
        ])
    func innocentPlace(line: String) throws {
        #expect(try foreignPlaces(in: SourceFile(path: "Tests/run", text: line)) == [])
    }
}
