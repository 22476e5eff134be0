import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#endif

/// What the doctor looks at outside the daemon.
enum Surroundings {
    /// 0 for a file that is not there.
    static func fileBytes(at path: String) -> UInt64 {
        UInt64(attributes(at: path)?[.size] as? UInt ?? 0)
    }

    /// Of the file that a path leads to, through links; nil when there is none.
    static func attributes(at path: String) -> [FileAttributeKey: Any]? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return try? FileManager.default.attributesOfItem(atPath: String(cString: resolved))
    }
}
