/// The beginnings of ids that are enough to tell them apart.
struct ShortIDs {
    static let shortest = 8
    private let length: Int

    /// - Parameter atLeast: more than eight when there are ids besides those given.
    init(_ ids: some Sequence<String>, atLeast: Int = ShortIDs.shortest) {
        let sorted = ids.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
        var length = atLeast
        for (left, right) in zip(sorted, sorted.dropFirst()) where left != right {
            let common = zip(left, right).prefix { $0 == $1 }.count
            length = max(length, common + 1)
        }
        self.length = length
    }

    subscript(id: String) -> String {
        var short = id.prefix(length)
        if short.last == "-" { short.removeLast() }
        // A hyphen at the cut belongs to nobody; the ids before it differ already or are equal.
        return String(short)
    }

    /// Eight digits of a device's or replica's random id.
    static func random(_ id: String) -> String {
        String(id.prefix(shortest))
    }
}
