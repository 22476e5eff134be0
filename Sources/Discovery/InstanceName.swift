/// Instance names of DNS-SD: free text of at most 63 bytes of UTF-8 (RFC 6763 section 4.1.1).
enum InstanceName {
    static let longestBytes = 63

    /// The text, cut at a character so that it fits; `muster` for an empty one.
    static func fitted(_ text: String, longestBytes: Int = InstanceName.longestBytes) -> String {
        var fitted = text
        while fitted.utf8.count > longestBytes { fitted.removeLast() }
        return fitted.isEmpty ? "muster" : fitted
    }

    /// The name to try when this one is taken: `crew`, `crew #2`, `crew #3` and so on, as avahi itself counts.
    ///
    /// Avahi renames when another laptop has the name. When another program on the same laptop has it, avahi refuses, and
    /// the choice is ours.
    static func following(_ name: String) -> String {
        var stem = name
        var number = 2
        if let hash = name.lastIndex(of: "#"), hash > name.startIndex, name[name.index(before: hash)] == " ",
            let last = Int(name[name.index(after: hash)...]), last >= 2, last < Int(UInt16.max)
        {
            stem = String(name[..<name.index(before: hash)])
            number = last + 1
        }
        let suffix = " #\(number)"
        return fitted(stem, longestBytes: longestBytes - suffix.utf8.count) + suffix
    }
}
