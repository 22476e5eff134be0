import Foundation
import Identity
import Storage

#if canImport(Glibc)
    import Glibc
#endif

/// The files of a laptop's identity in its state directory, each readable to its owner only.
struct FleetFiles: Sendable {
    /// The secret of the laptop (`DeviceKey.pem`).
    static let key = "device.key"
    /// The laptop's own certificate, its issuer's and the root's, then what a server has prolonged it by, with the server's two.
    static let chain = "fleet.pem"
    /// The certificate by which this laptop may issue others.
    static let issuer = "issuer.pem"

    /// Who was shut out.
    static let revocations = "revocations.pem"
    /// Laptops that are known: `[KnownDevice]` in JSON.
    static let devices = "devices.json"
    /// All but the key.
    static let all = [issuer, chain, revocations, devices]
    /// What is longer is none of these: a revocation is half a kilobyte.
    private static let mostBytes = 64 << 20

    /// Under which a service manager hands the key over that is bound to the machine (systemd/bind-device-key).
    private static let boundKey = "muster.device-key"

    /// The directory, which is there.
    let path: String
    /// Where the service manager puts what only this process may read (systemd.exec(5), CREDENTIALS_DIRECTORY).
    var credentials: String?

    /// The secret of the laptop. One that it has made since stands in its directory, and comes before the one that was bound.
    ///
    /// - Throws: `ConfigurationError` when there is one that cannot be read.
    func readKey() throws(ConfigurationError) -> (text: String, place: String)? {
        if let text = try read(Self.key) { return (text, "\(path)/\(Self.key)") }
        guard let credentials else { return nil }
        let bound = FleetFiles(path: credentials)
        return try bound.read(Self.boundKey).map { ($0, "\(credentials)/\(Self.boundKey)") }
    }

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
            guard bytes.count <= Self.mostBytes else { break }
            if count < buffer.count { break }
        }
        guard ferror(file) == 0 else { throw failure("read", name) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// - Throws: `ConfigurationError`; then the old one stands, or the new one may not outlast a power cut.
    func write(_ text: String, to name: String) throws(ConfigurationError) {
        do throws(POSIXError) {
            try Disk.replace("\(path)/\(name)", with: Array(text.utf8))
        } catch {
            throw failure("written", name, error)
        }
    }

    /// Does nothing when there is none.
    func remove(_ name: String) throws(ConfigurationError) {
        let place = "\(path)/\(name)"
        guard unlink(place) == 0 else {
            if errno == ENOENT { return }
            throw failure("removed", name)
        }
        do throws(POSIXError) {
            try Disk.flushDirectory(of: place)
        } catch {
            throw failure("removed", name, error)
        }
    }

    private func failure(
        _ verb: String, _ name: String, _ error: POSIXError = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    ) -> ConfigurationError {
        let reason = String(cString: strerror(error.code.rawValue))
        return ConfigurationError(
            "\(path)/\(name) cannot be \(verb) (\(reason)); check its owner and mode, and the disk.")
    }
}
