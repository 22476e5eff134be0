import ServerChannel

#if canImport(Glibc)
    import Glibc
#endif

/// What a daemon is told of the company's server, once it may do more than ask it for the time.
struct ServerSettings: Sendable {
    let address: ServerAddress
    /// Holds this device's token on its first line.
    let tokenFile: String
    let intervalMilliseconds: UInt64

    /// Read anew whenever the server refuses the last one.
    var readToken: @Sendable () -> String? {
        { [tokenFile] in Self.firstLine(of: tokenFile) }
    }

    /// Everybody on this machine can take the token and speak as this device.
    var isTokenPublic: Bool {
        var status = stat()
        return stat(tokenFile, &status) == 0 && status.st_mode & S_IROTH != 0
    }

    /// Nil when there is none.
    static func firstLine(of path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 512)
        guard fgets(&buffer, Int32(buffer.count), file) != nil else { return nil }
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }.filter { $0 > 0x20 && $0 < 0x7F }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
