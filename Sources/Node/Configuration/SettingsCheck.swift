import Configuration
import FoundationEssentials
import HTTPCoding
import Inventory

/// Looks at what a file and the environment say before it is read: what nobody knows, or what is of another kind, would be passed
/// over in silence otherwise.
enum SettingsCheck {
    /// What a setting's value has to be.
    enum Kind {
        case text
        case texts
        case yesNo
        case seconds

        var words: String {
            switch self {
            case .text: "a text in quotes"
            case .texts: "a list of texts, as in [\"10.0.0.2:7473\"]"
            case .yesNo: "true or false"
            case .seconds: "a whole number of seconds"
            }
        }
    }

    /// A value of a JSON file.
    private struct Value: Decodable {
        /// Nil for what no setting can be.
        let content: ConfigContent?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(Bool.self) {
                content = .bool(value)
            } else if let value = try? container.decode(Int.self) {
                content = .int(value)
            } else if let value = try? container.decode(String.self) {
                content = .string(value)
            } else {
                content = (try? container.decode([String].self)).map(ConfigContent.stringArray)
            }
        }

        func content(as kind: Kind) -> ConfigContent? {
            switch (content, kind) {
            case (.string, .text), (.stringArray, .texts), (.bool, .yesNo), (.int, .seconds): content
            default: nil
            }
        }
    }

    /// - Parameter name: of the file, as it was given.
    /// - Throws: `ConfigurationError`, which names the file, the setting, and what was meant perhaps.
    static func settings(
        in bytes: Data, named name: String
    ) throws(ConfigurationError) -> [AbsoluteConfigKey: ConfigValue] {
        let given: [String: Value]
        do { given = try JSON.decode([String: Value].self, from: bytes) } catch {
            throw ConfigurationError(
                "The configuration file \(name) is no JSON object; correct it or leave --config out.")
        }
        if let key = JSON.repeatedKey(in: bytes) {
            throw ConfigurationError("'\(key)' in \(name) is there twice; leave one of the two out.")
        }
        var settings: [AbsoluteConfigKey: ConfigValue] = [:]
        for (setting, value) in given.sorted(by: { $0.key < $1.key }) {
            guard let key = NodeConfiguration.Key(rawValue: setting) else {
                throw unknown(
                    setting, "'\(setting)' in \(name)", among: NodeConfiguration.Key.allCases.map(\.rawValue))
            }
            guard let content = value.content(as: key.kind) else {
                throw ConfigurationError("'\(setting)' in \(name) has to be \(key.kind.words); correct it.")
            }
            settings[key.absolute] = ConfigValue(content, isSecret: false)
        }
        return settings
    }

    /// - Parameter environment: the process's; only what begins with `MUSTER_` is looked at.
    /// - Throws: `ConfigurationError`, which names the variable.
    static func check(environment: [String: String]) throws(ConfigurationError) {
        let known = Dictionary(
            NodeConfiguration.Key.allCases.map { ($0.variable, $0) }, uniquingKeysWith: { first, _ in first })
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix("MUSTER_") {
            guard let key = known[name] else { throw unknown(name, name, among: known.keys.sorted()) }
            guard key.kind != .yesNo || ["true", "false"].contains(value) else {
                throw ConfigurationError("The variable \(name) has to be true or false; correct it.")
            }
        }
    }

    private static func unknown(_ given: String, _ place: String, among names: [String]) -> ConfigurationError {
        let nearest = NearestName.of(given, among: names).map { "did you mean \($0)?" }
        let hint = nearest ?? "known are \(names.joined(separator: ", "))."
        return ConfigurationError("There is no setting \(place); \(hint)")
    }
}

extension NodeConfiguration {
    /// Looks at the names and kinds in a file of variables.
    ///
    /// - Throws: `ConfigurationError`, which names the file too.
    package static func check(variables: [String: String], of path: String) throws(ConfigurationError) {
        do throws(ConfigurationError) { try SettingsCheck.check(environment: variables) } catch {
            throw ConfigurationError("In \(path): \(error.description)")
        }
    }
}

extension NodeConfiguration.Key {
    /// The variable of the environment.
    var variable: String { "MUSTER_" + rawValue.uppercased().split(separator: "-").joined(separator: "_") }

    /// It names a place in the file system.
    var isPath: Bool { [.stateDirectory, .socket, .readerSocket].contains(self) }

    /// What its value has to be.
    var kind: SettingsCheck.Kind {
        switch self {
        case .peers: .texts
        case .discovery: .yesNo
        case .serverInterval: .seconds
        case .stateDirectory, .socket, .socketGroup, .readerSocket, .readerGroup, .listen, .server, .hostName, .metrics,
            .logLevel:
            .text
        }
    }
}
