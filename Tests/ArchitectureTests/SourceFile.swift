import Foundation

/// A text file of the tree, with its path from the root of the project.
struct SourceFile: Sendable {
    let path: String
    let text: String

    init(path: String, text: String) {
        self.path = path
        self.text = text
    }

    /// Generated code follows its generator's style, and a test compares it with its source.
    var isGenerated: Bool { path.hasSuffix(".pb.swift") }

    var lineCount: Int { text.split(separator: "\n", omittingEmptySubsequences: false).count - 1 }

    /// The module that the file belongs to: the folder below Sources or Tests.
    var module: String {
        let parts = path.split(separator: "/")
        return parts.count > 2 ? String(parts[1]) : ""
    }
}

/// A rule broken in one place, worded so that the reader knows what to do instead.
struct Violation: CustomStringConvertible, Equatable {
    let path: String
    let line: Int
    let message: String

    var description: String { "\(path):\(line): \(message)" }
}

/// The tree that these tests stand in.
enum Tree {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Every Swift file below a folder, generated ones too, in order of path.
    static func swiftFiles(below folder: String) throws -> [SourceFile] {
        try files(below: folder).filter { $0.path.hasSuffix(".swift") }
    }

    /// Every text file below a folder (the whole project when empty), in order of path. Build products, git's own
    /// files, symbolic links and what is not UTF-8 are left out.
    static func files(below folder: String) throws -> [SourceFile] {
        let keys: [URLResourceKey] = [.isRegularFileKey, .isDirectoryKey]
        let start = folder.isEmpty ? root : root.appending(path: folder)
        guard let walk = FileManager.default.enumerator(at: start, includingPropertiesForKeys: keys) else { return [] }
        var found: [SourceFile] = []
        for case let url as URL in walk {
            let name = url.lastPathComponent
            let values = try url.resourceValues(forKeys: Set(keys))
            if values.isDirectory == true, isForeign(name) { walk.skipDescendants() }
            guard values.isRegularFile == true, !isForeign(name), name != "Package.resolved" else { continue }
            guard let text = String(data: try Data(contentsOf: url), encoding: .utf8) else { continue }
            found.append(SourceFile(path: String(url.path.dropFirst(root.path.count + 1)), text: text))
        }
        return found.sorted { $0.path < $1.path }
    }

    private static func isForeign(_ name: String) -> Bool {
        name.hasPrefix(".build") || name.hasPrefix(".git") && name != ".gitignore" || name == ".swiftpm"
            || name == "__pycache__" || name == ".pytest_cache"
    }
}
