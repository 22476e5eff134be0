/// What somebody has meant who has mistyped a name.
package enum NearestName {
    /// The first of those that are the fewest letters away, if these are few enough to be slips.
    package static func of(_ given: String, among names: [String]) -> String? {
        let given = given.lowercased()
        let distances = names.map { (name: $0, distance: distance(Array(given), Array($0.lowercased()))) }
        guard let nearest = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        let isSlip = nearest.distance <= max(2, given.count / 3)
        return isSlip ? nearest.name : nil
    }

    /// Letters to be put in, taken out or exchanged (Levenshtein 1966).
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var row = Array(0...other.count)
        for (at, letter) in one.enumerated() {
            var diagonal = row[0]
            row[0] = at + 1
            for place in other.indices {
                let exchanged = diagonal + (other[place] == letter ? 0 : 1)
                diagonal = row[place + 1]
                row[place + 1] = min(exchanged, row[place] + 1, row[place + 1] + 1)
            }
        }
        return row[other.count]
    }
}
