import FoundationEssentials
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
    private enum Value: Decodable {
        case text, texts, yesNo, whole, other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if (try? container.decode(Bool.self)) != nil {
                self = .yesNo
            } else if (try? container.decode(Int.self)) != nil {
                self = .whole
            } else if (try? container.decode(String.self)) != nil {
                self = .text
            } else {
                self = (try? container.decode([String].self)) == nil ? .other : .texts
            }
        }

        func isOf(_ kind: Kind) -> Bool {
            switch (self, kind) {
            case (.text, .text), (.texts, .texts), (.yesNo, .yesNo), (.whole, .seconds): true
            default: false
            }
        }
    }

    /// - Parameter name: of the file, as it was given.
    /// - Throws: `ConfigurationError`, which names the file, the setting, and what was meant perhaps.
    static func check(file bytes: Data, named name: String) throws(ConfigurationError) {
        let settings: [String: Value]
        do { settings = try JSONDecoder().decode([String: Value].self, from: bytes) } catch {
            throw ConfigurationError(
                "The configuration file \(name) is no JSON object; correct it or leave --config out.")
        }
        for (given, value) in settings.sorted(by: { $0.key < $1.key }) {
            guard let key = NodeConfiguration.Key(rawValue: given) else {
                throw unknown(given, "'\(given)' in \(name)", among: NodeConfiguration.Key.allCases.map(\.rawValue))
            }
            guard value.isOf(key.kind) else {
                throw ConfigurationError("'\(given)' in \(name) has to be \(key.kind.words); correct it.")
            }
        }
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

extension NodeConfiguration.Key {
    /// The variable of the environment.
    var variable: String { "MUSTER_" + rawValue.uppercased().split(separator: "-").joined(separator: "_") }

    /// What its value has to be.
    var kind: SettingsCheck.Kind {
        switch self {
        case .peers: .texts
        case .discovery: .yesNo
        case .serverInterval: .seconds
        case .stateDirectory, .socket, .socketGroup, .readerSocket, .readerGroup, .listen, .server, .hostName,
            .logLevel:
            .text
        }
    }
}
