/// The targets of Package.swift and what each depends on, read from its text.
struct PackageManifest {
    /// Internal dependencies, by target; test targets are left out.
    var dependencies: [String: [String]] = [:]

    init(text: String) throws {
        let target = try Regex<(Substring, Substring)>(
            #"\.(?:target|executableTarget|systemLibrary)\(\s*name:\s*"([\w-]+)""#)
        let starts = text.matches(of: target)
        for (index, match) in starts.enumerated() {
            // A target's text ends where the next one, of whatever kind, begins.
            let limit = index + 1 < starts.count ? starts[index + 1].range.lowerBound : text.endIndex
            let body = text[match.range.upperBound..<limit].split(separator: ".testTarget(", maxSplits: 1).first ?? ""
            dependencies[String(match.output.1)] = try Self.internalNames(in: body)
        }
    }

    private static func internalNames(in body: Substring) throws -> [String] {
        guard let list = body.firstMatch(of: try Regex<(Substring, Substring)>(#"dependencies:\s*\[([^\]]*)\]"#)) else {
            return []
        }
        return list.output.1.matches(of: try Regex<(Substring, Substring)>(#""(\w+)""#)).map { String($0.output.1) }
    }

    /// Dependencies that the table of modules does not allow, and modules that it does not know.
    func violations(of rules: [String: ModuleRule]) -> [String] {
        dependencies.keys.sorted().flatMap { target -> [String] in
            guard let rule = rules[target] else { return ["\(target) is not in the table of modules; add it"] }
            return (dependencies[target] ?? []).filter { !rule.internalModules.contains($0) }
                .map { "\(target) may not depend on \($0): \(rule.reason)" }
        }
    }
}
