import Identity

#if canImport(Glibc)
    import Glibc
#endif

/// The files of a laptop's identity in its state directory, each readable to its owner only.
///
/// A file is written whole beside its place, flushed and then renamed (rename(2)): after a power cut it is the old one or
/// the new one.
struct FleetFiles: Sendable {
    /// The secret of the laptop (`DeviceKey.pem`).
    static let key = "device.key"
    /// The laptop's own certificate, its issuer's and the root's.
    static let chain = "fleet.pem"
    /// The certificate by which this laptop may issue others.
    static let issuer = "issuer.pem"

    /// The directory, which is there.
    let path: String

    /// - Throws: `ConfigurationError` when there is one that cannot be read.
    func read(_ name: String) throws(ConfigurationError) -> String? {
        guard let file = fopen("\(path)/\(name)", "re") else {
            if errno == ENOENT { return nil }
            throw failure("read", name)
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            bytes += buffer[..<count]
            guard bytes.count <= 1 << 20 else { break }
            if count < buffer.count { break }
        }
        guard ferror(file) == 0 else { throw failure("read", name) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// - Throws: `ConfigurationError`; then the old one stands.
    func write(_ text: String, to name: String) throws(ConfigurationError) {
        let place = "\(path)/\(name)"
        let fresh = place + ".new"
        let file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("written", name) }
        let bytes = Array(text.utf8)
        let isWhole = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) } == bytes.count
        let isDurable = isWhole && fsync(file) == 0
        close(file)
        guard isDurable, rename(fresh, place) == 0 else {
            let failure = failure("written", name)
            unlink(fresh)
            throw failure
        }
        flushDirectory()
    }

    /// Does nothing when there is none.
    func remove(_ name: String) throws(ConfigurationError) {
        guard unlink("\(path)/\(name)") == 0 || errno == ENOENT else { throw failure("removed", name) }
        flushDirectory()
    }

    /// Without it a rename may be forgotten at a power cut (fsync(2)).
    private func flushDirectory() {
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return }
        _ = fsync(directory)
        close(directory)
    }

    private func failure(_ verb: String, _ name: String) -> ConfigurationError {
        ConfigurationError(
            "\(path)/\(name) cannot be \(verb) (\(String(cString: strerror(errno)))); check its owner and mode, and the disk."
        )
    }
}
