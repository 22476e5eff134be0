/// Where a stranger can read on; every other host in the tree would be one that only its author can reach.
let knownHosts: Set<String> = [
    "github.com", "www.swift.org", "www.w3.org", "keepachangelog.com", "semver.org", "www.apache.org",
    "www.rfc-editor.org",
    "www.sqlite.org", "spec.openapis.org", "json-schema.org", "www.iana.org", "creativecommons.org",
    "www.freedesktop.org", "man7.org", "no-color.org", "llvm.org", "www.debian.org",
]

/// Paths of one particular machine, and hosts that are not known to be public.
func foreignPlaces(in file: SourceFile, hosts: Set<String> = knownHosts) throws -> [Violation] {
    // Put together here, so that this file does not break its own rule.
    let places = ["home/[a-z]", "Users/[A-Za-z]", "root/", "work" + "/", "mnt/"].joined(separator: "|")
    let path = try Regex<Substring>("(?:^|[^\\w.~*}:/-])/(?:" + places + ")")
    let url = try Regex<(Substring, Substring)>(#"https?://([A-Za-z0-9.-]+\.[A-Za-z]{2,})"#)
    let reserved = [".example", ".test", ".invalid", ".local", ".localhost", "example.com", "example.org"]
    var found: [Violation] = []
    for (number, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        if line.contains(path) {
            let message = "names a folder of one machine; use a relative path or a variable"
            found.append(Violation(path: file.path, line: number + 1, message: message))
        }
        for match in line.matches(of: url) {
            let host = match.output.1.lowercased()
            guard !hosts.contains(host), !reserved.contains(where: host.hasSuffix) else { continue }
            let message = "names the host \(host); if everybody can reach it, add it to the known hosts"
            found.append(Violation(path: file.path, line: number + 1, message: message))
        }
    }
    return found
}
