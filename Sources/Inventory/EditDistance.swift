/// How much two words differ (Levenshtein 1966).
enum EditDistance {
    /// How many letters have to be put in, taken out, replaced, or exchanged with their neighbour (the optimal string alignment
    /// distance: Damerau, Communications of the ACM 7(3), 1964).
    static func between(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one), Array(other))
        var (before, row) = ([Int](), Array(0...other.count))
        for index in one.indices {
            var next = [index + 1]
            for place in other.indices {
                var distance = min(
                    row[place] + (one[index] == other[place] ? 0 : 1), row[place + 1] + 1, next[place] + 1)
                if index > 0, place > 0, one[index] == other[place - 1], one[index - 1] == other[place] {
                    distance = min(distance, before[place - 1] + 1)
                }
                next.append(distance)
            }
            (before, row) = (row, next)
        }
        return row[other.count]
    }
}
