#if canImport(Glibc)
    import Glibc
#endif

/// A directory that a setting names, and how much of it is there.
package struct DirectoryPath: Sendable {
    /// As it is named.
    package let path: String
    /// Those that are not there and would be made, the outermost first, itself the last.
    package let missing: [String]
    /// errno: why nothing can be put into it, nor into the nearest that is there; 0 where that can be.
    private let failure: Int32

    /// Looks, and makes nothing.
    package init(_ path: String) {
        self.path = path
        var (place, missing) = (path.isEmpty ? "." : path, [String]())
        while access(place, F_OK) != 0, errno == ENOENT, ![".", "/"].contains(place) {
            // A slash more names nothing more.
            if !place.hasSuffix("/") { missing.insert(place, at: 0) }
            place = Self.parent(of: place)
        }
        self.missing = missing
        // A file has nothing below it.
        failure = access(place + "/.", W_OK | X_OK) == 0 ? 0 : errno
    }

    /// errno: why nothing can be put into it; 0 where that can be.
    ///
    /// - Parameter most: so many directories may be made for it.
    package func failure(making most: Int = .max) -> Int32 { missing.count > most ? ENOENT : failure }

    /// Whether both name one place, also before it is made: by other links, or with dots and slashes that change nothing.
    package func isSame(as other: DirectoryPath) -> Bool {
        // Where nobody can look there may be anything.
        guard let found, let otherFound = other.found else { return path == other.path }
        return found == otherFound && names == other.names
    }

    /// The nearest that is there.
    private var found: FileEntry? {
        FileEntry(missing.first.map(Self.parent) ?? (path.isEmpty ? "." : path))
    }

    /// What would be made in that.
    private var names: [Substring] {
        missing.compactMap { $0.split(separator: "/").last }.filter { $0 != "." }
    }

    /// Makes it, and those above it, with this mode.
    ///
    /// - Returns: 0, or errno.
    package func make(mode: UInt32) -> Int32 {
        for place in missing where mkdir(place, mode) != 0 && errno != EEXIST { return errno }
        return 0
    }

    /// The one that a file, or another directory, is in.
    package static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Why a setting can be no path; nil where it can: half a sentence with the remedy, to follow its name.
    package static func objection(to path: String) -> String? {
        guard path == "~" || path.hasPrefix("~/") else { return nil }
        return "'\(path)' begins with ~, which only a shell knows; write the whole path, from / on."
    }
}
