/// Where each setting was given, so that whoever gave a wrong one finds it.
struct SettingPlaces {
    let flags: Set<NodeConfiguration.Key>
    let environment: [String: String]
    /// The name of the file, as it was given.
    let file: String?

    /// `--listen`, `MUSTER_LISTEN`, or `'listen' in FILE`: the first of the three that has it.
    subscript(key: NodeConfiguration.Key) -> String {
        if flags.contains(key) { return "--\(key == .peers ? "peer" : key.rawValue)" }
        if environment[key.variable] != nil { return key.variable }
        return file.map { "'\(key.rawValue)' in \($0)" } ?? key.rawValue
    }
}
