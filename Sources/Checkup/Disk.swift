package import LocalAPI

#if canImport(Glibc)
    import Glibc
#endif

/// Room on the disk where the store lies.
package enum DiskSpace {
    /// Below this a day's photos and a checkpoint may not fit; in bytes.
    static let scarceBytes: UInt64 = 1_000_000_000
    /// Below this nothing can be promised.
    static let leastBytes: UInt64 = 100_000_000

    /// For users other than root on the disk of a path, in bytes; nil when the system does not tell.
    package static func freeBytes(at path: String) -> UInt64? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    /// - Parameter free: where the store lies, in bytes; nil if the system does not tell.
    package static func check(free: UInt64?, directory: String) -> HealthCheck {
        guard let free else {
            return .fail(
                .disk, "the state directory \(directory) cannot be looked at",
                remedy: "check that it is there, and that its disk is mounted")
        }
        let finding = "\(text(free)) free at \(directory)"
        guard free < scarceBytes else { return .ok(.disk, finding) }
        return free < leastBytes
            ? .fail(.disk, finding, remedy: "make room there")
            : .warn(.disk, finding, remedy: "make room there")
    }

    /// In decimal units with one digit of fraction.
    package static func text(_ bytes: UInt64) -> String {
        let units: [(UInt64, String)] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")]
        guard let (unit, name) = units.first(where: { bytes >= $0.0 }) else { return "\(bytes) B" }
        return "\(bytes / unit).\(bytes % unit * 10 / unit) \(name)"
    }
}
