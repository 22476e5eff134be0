#if canImport(Glibc)
    import Glibc
#endif

/// A file of variables, as systemd reads one (systemd.exec(5), `EnvironmentFile=`), but that a line that cannot be right is refused: a
/// setting that is passed over in silence is found when it is missed.
package struct EnvironmentFile: Sendable {
    /// What a file says that cannot be used: one sentence with the remedy.
    package struct Fault: Error, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// By their names; of two lines for one name the last one.
    package private(set) var variables: [String: String] = [:]
    private let name: String
    /// There is a line at least, if only a comment.
    private let hasText: Bool

    /// Reads a file. One that is not there has no variables.
    ///
    /// - Throws: `Fault` where it is there and cannot be read, or where a line is neither empty, a comment (`#`, `;`), nor
    ///   `NAME=VALUE` with a value that is bare or whole in quotation marks.
    package init(path: String) throws(Fault) {
        if let objection = DirectoryPath.objection(to: path) {
            throw Fault(description: "--environment-file: \(objection)")
        }
        var status = stat()
        // Whoever opens a pipe waits for somebody who writes.
        guard stat(path, &status) != 0 || [S_IFREG, S_IFCHR].contains(status.st_mode & S_IFMT) else {
            throw Fault(description: "\(path) is no file; name one with NAME=VALUE in each line.")
        }
        guard let file = fopen(path, "re") else {
            let reason = errno
            guard reason != ENOENT else {
                try self.init(text: "", name: path)
                return
            }
            throw Fault(
                description:
                    "The file \(path) cannot be read (\(String(cString: strerror(reason)))); let its owner allow it.")
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        guard ferror(file) == 0 else {
            throw Fault(description: "The file \(path) cannot be read; see that it is a file, and whole.")
        }
        try self.init(text: String(decoding: bytes, as: UTF8.self), name: path)
    }

    /// - Parameter name: of the file, for who has to correct it.
    init(text: String, name: String) throws(Fault) {
        (self.name, hasText) = (name, !text.isEmpty)
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let trimmed = Self.trimmed(line)
            guard let first = trimmed.first, first != "#", first != ";" else { continue }
            let parts = trimmed.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, Self.isName(parts[0]), let value = Self.value(Self.trimmed(parts[1])) else {
                throw Fault(
                    description: "Line \(index + 1) of \(name) is no setting; write NAME=VALUE, or # before it.")
            }
            variables[String(parts[0])] = value
        }
    }

    /// Reads it anew for a program that goes by it.
    ///
    /// - Throws: `Fault` also where it is gone, or empty as while somebody writes it: nobody means the defaults by that.
    package func again() throws(Fault) -> EnvironmentFile {
        let file = try EnvironmentFile(path: name)
        guard file.hasText || !hasText else {
            throw Fault(
                description:
                    "The file \(name) is gone or empty; put it back, or start anew if the defaults are meant.")
        }
        return file
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let head = text.drop(while: isSpace)
        return head.prefix(head.count - head.reversed().prefix(while: isSpace).count)
    }

    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy { $0 == 0x5F || (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) }
    }

    /// Nil for what a shell or systemd would read otherwise than it looks: escapes, and quotation marks in the midst.
    private static func value(_ text: Substring) -> String? {
        var inner = text
        if let mark = text.first, mark == "\"" || mark == "'" {
            guard text.count >= 2, text.last == mark else { return nil }
            inner = text.dropFirst().dropLast()
        }
        return inner.contains { $0 == "\"" || $0 == "'" || $0 == "\\" } ? nil : String(inner)
    }
}
