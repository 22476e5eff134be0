/// How much two words differ (Levenshtein 1966).
enum EditDistance {
    /// How many letters have to be put in, taken out or replaced.
    static func between(_ one: String, _ other: String) -> Int {
        let other = Array(other)
        var row = Array(0...other.count)
        for (index, letter) in one.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for place in other.indices {
                let replaced = diagonal + (letter == other[place] ? 0 : 1)
                diagonal = row[place + 1]
                row[place + 1] = min(replaced, diagonal + 1, row[place] + 1)
            }
        }
        return row[other.count]
    }
}
