/// The targets of Package.swift and what each says that it depends on, read from its text.
struct PackageManifest {
    struct Target {
        let name: String
        /// `target`, `executableTarget`, `systemLibrary` or `testTarget`.
        let kind: String
        /// Where its sources are, from the root of the project.
        let folder: String
        /// Targets of this package.
        let modules: [String]
        /// What it takes from other packages, by the names under which that is imported.
        let products: [String]
    }

    let targets: [Target]

    init(text: String) throws {
        let product = try Regex<(Substring, Substring, Substring)>(
            #"let (\w+): Target\.Dependency = \.product\(name: "(\w+)""#)
        let products = Dictionary(
            text.matches(of: product).map { ($0.output.1, String($0.output.2)) },
            uniquingKeysWith: { first, _ in first })
        let target = try Regex<(Substring, Substring, Substring)>(
            #"\.(target|executableTarget|systemLibrary|testTarget)\(\s*name:\s*"([\w-]+)""#)
        let starts = text.matches(of: target)
        targets = try starts.indices.map { index in
            // A target's text ends where the next one begins.
            let end = index + 1 < starts.count ? starts[index + 1].range.lowerBound : text.endIndex
            let body = text[starts[index].range.upperBound..<end]
            let (kind, name) = (String(starts[index].output.1), String(starts[index].output.2))
            let path = body.firstMatch(of: try Regex<(Substring, Substring)>(#"path:\s*"([^"]+)""#))?.output.1
            let words = try Self.dependencies(in: body)
            return Target(
                name: name, kind: kind,
                folder: path.map(String.init) ?? (kind == "testTarget" ? "Tests/" : "Sources/") + name,
                modules: words.filter { $0.hasPrefix("\"") }.map { String($0.dropFirst().dropLast()) },
                products: words.filter { !$0.hasPrefix("\"") }.map { products[$0] ?? String($0) })
        }
    }

    /// What a program takes from other packages, by itself or through targets of this one; sorted.
    func products(linkedInto program: String) -> [String] {
        var reached: Set<String> = []
        var (open, products) = ([program], Set<String>())
        while let name = open.popLast() {
            guard reached.insert(name).inserted, let target = targets.first(where: { $0.name == name }) else {
                continue
            }
            open += target.modules
            products.formUnion(target.products)
        }
        return products.sorted()
    }

    /// As they are written: targets in quotes, products by their variable.
    private static func dependencies(in body: Substring) throws -> [Substring] {
        let list = body.firstMatch(of: try Regex<(Substring, Substring)>(#"dependencies:\s*\[([^\]]*)\]"#))?.output.1
        return list?.matches(of: try Regex<Substring>(#""[\w-]+"|\w+"#)).map(\.output) ?? []
    }

    /// Dependencies that the table of modules does not allow, and modules that it does not know; tests may use any.
    func violations(of rules: [String: ModuleRule]) -> [String] {
        targets.filter { $0.kind != "testTarget" }.sorted { $0.name < $1.name }.flatMap { target -> [String] in
            guard let rule = rules[target.name] else {
                return ["\(target.name) is not in the table of modules; add it"]
            }
            return target.modules.filter { !rule.internalModules.contains($0) }
                .map { "\(target.name) may not depend on \($0): \(rule.reason)" }
        }
    }

    /// What a target declares and does not import, and what it imports and does not declare.
    ///
    /// The build finds fault with neither: whatever some other target has brought can be imported.
    func mismatches(with files: [SourceFile]) -> [String] {
        let programs = Set(targets.filter { $0.kind == "executableTarget" }.map(\.name))
        return targets.filter { $0.kind != "systemLibrary" }.flatMap { target in
            let sources = files.filter { $0.path.hasPrefix(target.folder + "/") }
            let imported = Set(sources.flatMap(importedModules)).subtracting(ModuleRule.system).subtracting(["Testing"])
            let declared = Set(target.modules + target.products)
            // Tests run programs, which have to be built for that.
            let idle = declared.subtracting(imported).subtracting(target.kind == "testTarget" ? programs : [])
            return idle.sorted().map { "\(target.name) declares \($0), which it does not import" }
                + imported.subtracting(declared).sorted().map {
                    "\(target.name) imports \($0), which it does not declare"
                }
        }
    }
}
