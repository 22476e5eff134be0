import CSQLite

/// The pages that a savepoint may have to put back: in memory, up to a bound.
///
/// By itself SQLite keeps eight of ours there; for more it makes and deletes a file, so nearly each write made one. An import's
/// and a catch-up's batch fits the bound; only what rebuilds a large job goes beyond, and into a file.
enum StatementJournal {
    static let longestInMemory: CInt = 4 << 20

    /// For the whole process, before SQLite's first use: later it refuses, which costs time and nothing else.
    static let configure: Void = { _ = sqlite3_config_statement_journal_spill(longestInMemory) }()
}
