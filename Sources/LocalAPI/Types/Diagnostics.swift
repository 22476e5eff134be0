package import HTTPCoding

/// What the daemon knows of itself, for a report: `muster report` decides what of it goes to whom.
package struct Diagnostics: Codable, Hashable, Sendable {
    /// The settings in force; none is a secret.
    package var settings: [Setting]
    /// How large the store is.
    package var store: StoreSize
    /// The last lines of its log since it started, the oldest first.
    package var events: [LoggedEvent]

    /// Takes the parts as they are.
    package init(settings: [Setting], store: StoreSize, events: [LoggedEvent]) {
        self.settings = settings
        self.store = store
        self.events = events
    }

    /// One setting, as docs/configuration.md names it.
    package struct Setting: Codable, Hashable, Sendable {
        /// Such as `listen`.
        package var name: String
        /// As it is in force.
        package var value: String

        /// Takes both as they are.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The store's file, and rows of the tables that grow.
    package struct StoreSize: Codable, Hashable, Sendable {
        /// Of the file.
        package var bytes: Int
        /// Of what is not in it yet (SQLite's write-ahead log).
        package var logBytes: Int
        /// By table; empty where it cannot be read.
        package var rows: [String: Int]

        /// Takes the parts as they are.
        package init(bytes: Int, logBytes: Int, rows: [String: Int]) {
            self.bytes = bytes
            self.logBytes = logBytes
            self.rows = rows
        }
    }

    /// A line of the log.
    package struct LoggedEvent: Codable, Hashable, Sendable {
        /// By the machine's own clock.
        package var at: Timestamp
        /// `debug`, `info`, `notice`, `warning`, `error` or `critical`.
        package var level: String
        /// The sentence that stays the same.
        package var event: String
        /// What it is about; may name jobs, people and what they wrote.
        package var details: [String: String]

        /// Takes the parts as they are.
        package init(at: Timestamp, level: String, event: String, details: [String: String]) {
            self.at = at
            self.level = level
            self.event = event
            self.details = details
        }
    }
}
