import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#endif

/// By what this device proves to the company's server who it is: the first line of a file.
struct ServerToken: Sendable {
    let file: String

    /// Read anew whenever the server refuses the last one; nil when there is none.
    var read: @Sendable () -> String? {
        { [file] in Self.firstLine(of: file) }
    }

    /// Everybody on this machine can take the token and speak as this device.
    var isPublic: Bool {
        (Surroundings.attributes(at: file)?[.posixPermissions] as? UInt ?? 0) & 0o004 != 0
    }

    /// Nil when there is none.
    private static func firstLine(of path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 512)
        guard fgets(&buffer, Int32(buffer.count), file) != nil else { return nil }
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }.filter { $0 > 0x20 && $0 < 0x7F }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
