import Testing

/// The rules of ARCHITECTURE.md, held by the tree as it is.
@Suite("The architecture holds")
struct ArchitectureTests {
    @Test("Every module imports only what its rule allows")
    func imports() throws {
        let files = try Tree.swiftFiles(below: "Sources") + Tree.swiftFiles(below: "Tests/Simulation")
        #expect(files.count > moduleRules.count)
        // Generated code brings its own imports of the system.
        let found = files.filter { !$0.isGenerated }.flatMap(forbiddenImports)
        #expect(found == [])
    }

    @Test("Package.swift points in the direction of the table")
    func packageDirection() throws {
        let text = try #require(try Tree.files(below: "").first { $0.path == "Package.swift" }).text
        let manifest = try PackageManifest(text: text)
        #expect(manifest.targets.count { $0.kind != "testTarget" } >= moduleRules.count)
        #expect(manifest.violations(of: moduleRules) == [])
    }

    @Test("The command links what it needs, and no library that only servers do")
    func commandIsSmall() throws {
        let text = try #require(try Tree.files(below: "").first { $0.path == "Package.swift" }).text
        let linked = try PackageManifest(text: text).products(linkedInto: "muster")
        // Each makes every laptop's download larger (debian/rules has the limit): add none without measuring it.
        #expect(
            linked == [
                "ArgumentParser", "Crypto", "CryptoExtras", "Logging", "NIOCore", "NIOHTTP1", "NIOPosix", "SwiftASN1",
                "UnixSignals", "X509",
            ])
    }

    @Test("What Package.swift lets a target depend on, the target imports, and nothing else")
    func declaredIsImported() throws {
        let text = try #require(try Tree.files(below: "").first { $0.path == "Package.swift" }).text
        let files = try Tree.swiftFiles(below: "Sources") + Tree.swiftFiles(below: "Tests")
        let found = try PackageManifest(text: text).mismatches(with: files)
        #expect(found == [])
    }

    @Test("Of what other modules see, 95 of 100 declarations say what they mean")
    func documented() throws {
        let found = Documentation(try Tree.swiftFiles(below: "Sources"))
        #expect(found.declared > 1_500)
        #expect(found.documentedPercent >= 95, "\(found.bare)")
    }

    @Test("No two folders of a module use each other")
    func foldersAreLayered() throws {
        let files = try Tree.swiftFiles(below: "Sources") + Tree.swiftFiles(below: "Tests")
        let found = try FolderEdges(files.filter { !$0.isGenerated }).bothWays
        #expect(found == [])
    }

    @Test("The table of modules has no cycle, and pure modules rest on pure modules only")
    func tableIsLayered() {
        // A table without a cycle empties when modules whose imports are all gone are taken away, again and again.
        var left = moduleRules
        var removed = true
        while removed {
            let free = left.filter { $0.value.internalModules.isDisjoint(with: left.keys) }.map(\.key)
            removed = !free.isEmpty
            for name in free { left[name] = nil }
        }
        #expect(left.keys.sorted() == [])
        for (name, rule) in moduleRules where rule.isPure {
            #expect(rule.internalModules.allSatisfy { moduleRules[$0]?.isPure == true }, "\(name)")
        }
    }

    @Test("Pure modules have no clock, no randomness of their own, no tasks and no output")
    func pureModules() throws {
        let files = try Tree.swiftFiles(below: "Sources") + Tree.swiftFiles(below: "Tests/Simulation")
        let pure = files.filter { moduleRules[$0.module]?.isPure == true }
        #expect(pure.count > 4)
        let found = try pure.flatMap { try violations(of: bannedInPureModules, in: $0) }
        #expect(found == [])
    }

    @Test("The simulated engine takes time and chance from its seed alone")
    func simulation() throws {
        let files = try Tree.swiftFiles(below: "Tests/Simulation").filter { $0.module == "Simulation" }
        #expect(files.count > 15)
        let found = try files.flatMap { file in
            let ofEngine = file.path.contains("Simulation/Engine/")
            let banned = ofEngine ? bannedInSimulatedEngine : bannedInSimulation
            return try violations(of: banned, in: file)
        }
        #expect(found == [])
    }

    @Test("No source crashes on purpose or is public")
    func allSources() throws {
        let files = try Tree.swiftFiles(below: "Sources").filter { !$0.isGenerated }
        let found = try files.flatMap { try violations(of: bannedInAllSources, in: $0) }
        #expect(found == [])
    }

    @Test("Tests draw from seeds, so that what fails can be run again")
    func seededTests() throws {
        let rule = bannedInPureModules.filter { $0.pattern.contains("SystemRandomNumberGenerator") }
        #expect(rule.count == 1)
        let files = try Tree.swiftFiles(below: "Tests").filter { $0.module != "ArchitectureTests" }
        #expect(try files.flatMap { try violations(of: rule, in: $0) } == [])
    }

    @Test("The code uses no word that the glossary has retired")
    func words() throws {
        let page = try #require(try Tree.files(below: "docs").first { $0.path == "docs/glossary.md" })
        let glossary = try Glossary(page.text)
        #expect(glossary.retired.count > 20)
        let files = try (Tree.swiftFiles(below: "Sources") + Tree.swiftFiles(below: "Tests")).filter { !$0.isGenerated }
        #expect(try files.flatMap { try glossary.retiredWords(in: $0) } == [])
    }

    @Test("No file is too long, and the list of exceptions only shrinks")
    func lengths() throws {
        let found = lengthViolations(of: try Tree.files(below: ""), exceptions: longFiles)
        #expect(found == [])
    }

    @Test("Nothing names a folder of one machine or a host that strangers cannot reach")
    func places() throws {
        // The licence is quoted as it is, and this rule's own test plants what it looks for.
        let files = try Tree.files(below: "").filter { $0.path != "LICENSE" && !$0.path.hasSuffix("GuardTests.swift") }
        let found = try files.flatMap { try foreignPlaces(in: $0) }
        #expect(found == [])
    }
}
