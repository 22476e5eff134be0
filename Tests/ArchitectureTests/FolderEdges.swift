/// Which folders of one module use types of which: two that use each other are one thing in two places.
///
/// Told by names: a type belongs to the folder in which it is declared at the left margin, and whoever says its name in code
/// uses it. Files beside the folders belong to none.
struct FolderEdges {
    /// "Module: A uses what of B, which uses what", in order.
    private(set) var bothWays: [String] = []

    init(_ files: [SourceFile]) throws {
        for (module, files) in Dictionary(grouping: files, by: \.module).sorted(by: { $0.key < $1.key }) {
            let codes = files.compactMap { file in Self.folder(of: file).map { ($0, CodeOnly.of(file.text)) } }
            var owner: [String: String] = [:]
            for (folder, code) in codes {
                for name in try Self.declaredTypes(in: code) { owner[name] = folder }
            }
            var uses: [String: [String: Set<String>]] = [:]
            for (folder, code) in codes {
                for name in try Self.namedTypes(in: code) {
                    guard let other = owner[name], other != folder else { continue }
                    uses[folder, default: [:]][other, default: []].insert(name)
                }
            }
            for (folder, others) in uses.sorted(by: { $0.key < $1.key }) {
                for (other, names) in others.sorted(by: { $0.key < $1.key }) where folder < other {
                    guard let back = uses[other]?[folder] else { continue }
                    bothWays.append(
                        "\(module): \(folder) uses \(names.sorted().joined(separator: ", ")) of \(other), "
                            + "which uses \(back.sorted().joined(separator: ", "))")
                }
            }
        }
    }

    /// The folder right below the module's; nil for a file beside the folders.
    private static func folder(of file: SourceFile) -> String? {
        let parts = file.path.split(separator: "/")
        return parts.count > 3 ? String(parts[2]) : nil
    }

    private static func declaredTypes(in code: String) throws -> [String] {
        let declaration = try Regex<(Substring, Substring)>(
            #"^(?:@\w+ )*(?:(?:package|final|indirect) )*(?:struct|class|enum|actor|protocol|typealias) (\w+)"#
        ).anchorsMatchLineEndings()
        return code.matches(of: declaration).map { String($0.output.1) }
    }

    /// Without what follows a dot: that is a member, or a type inside another.
    private static func namedTypes(in code: String) throws -> Set<String> {
        let name = try Regex<(Substring, Substring)>(#"(?:^|[^\w.])([A-Z]\w+)"#).anchorsMatchLineEndings()
        return Set(code.matches(of: name).map { String($0.output.1) })
    }
}
