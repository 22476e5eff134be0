/// One word that is offered, and what a person knows it by.
struct Offer: Equatable, Sendable {
    let word: String
    let meaning: String

    init(_ word: String, _ meaning: String = "") { (self.word, self.meaning) = (word, meaning) }

    /// So many are shown at once.
    private static let most = 200

    /// Whether it reaches a command as it is: it drives no terminal, and begins no option.
    static func canBe(_ word: String) -> Bool { !word.isEmpty && !word.hasPrefix("-") && isPlain(word) }

    /// By bytes first, since it is asked for each of 100,000 items.
    private static func isPlain(_ word: String) -> Bool {
        word.utf8.allSatisfy { (0x20...0x7E).contains($0) } || Text.plain(word) == word
    }

    /// Those that go on with what was typed.
    ///
    /// Of too many the first and the last: a shell types by itself what all have in common, and that is then what really all have.
    static func chosen(_ offers: [Offer], typed: String) -> [Offer] {
        let fitting = offers.filter { $0.word.hasPrefix(typed) && isPlain($0.word) }
        guard fitting.count > most else { return fitting }
        let ordered = fitting.sorted { $0.word.utf8.lexicographicallyPrecedes($1.word.utf8) }
        return Array(ordered.prefix(most - 1) + ordered.suffix(1))
    }

    /// Words by which a person can mean one of several things: the name that only one of them has, else its short id. Where nothing of
    /// this goes on with what was typed, ids do.
    static func naming(_ things: [Thing], short: ShortIDs, typed: String) -> [Offer] {
        var times: [String: Int] = [:]
        for thing in things { times[thing.name, default: 0] += 1 }
        let isNamed = { (thing: Thing) in times[thing.name] == 1 && canBe(thing.name) }
        let usual = things.map { Offer(isNamed($0) ? $0.name : short[$0.id], $0.meaning) }.filter {
            $0.word.hasPrefix(typed)
        }
        guard usual.isEmpty, !typed.isEmpty else { return usual }
        return things.flatMap { thing in
            [short[thing.id], thing.id].filter { $0.hasPrefix(typed) }.prefix(1).map {
                Offer($0, isNamed(thing) ? thing.name : thing.meaning)
            }
        }
    }

    /// Columns with commas between: what goes on behind the last; none twice.
    static func columns(_ keys: [String], typed: String) -> [Offer] {
        let before = typed.split(separator: ",", omittingEmptySubsequences: false).dropLast()
        return keys.filter { !before.contains(Substring($0)) }.map {
            Offer((before + [Substring($0)]).joined(separator: ","))
        }
    }
}

/// What has a name, or none, and an id in any case.
struct Thing {
    let id: String
    let name: String
    let meaning: String
}
