/// What somebody has meant who has mistyped a name.
package enum NearestName {
    /// The first of those that are the fewest letters away, if these are few enough to be slips.
    ///
    /// - Parameter most: how many slips there may be; without it more in a longer name.
    package static func of(_ given: String, among names: [String], slips most: Int? = nil) -> String? {
        let given = given.lowercased()
        let distances = names.map { (name: $0, distance: EditDistance.between(given, $0.lowercased())) }
        guard let nearest = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        let isSlip = nearest.distance <= most ?? max(2, given.count / 3)
        return isSlip ? nearest.name : nil
    }

    /// The one of which a name that may be meant is hardly more than a slip: the same but for upper case and marks, the same letters
    /// in another order, or one letter away. A name with a digit, such as `barcode2`, is meant.
    package static func slip(_ given: String, among names: [String]) -> String? {
        guard !names.contains(where: { $0.utf8.elementsEqual(given.utf8) }) else { return nil }
        let letters = folded(given)
        guard !letters.contains(where: \.isNumber) else { return nil }
        return names.first { name in
            let other = folded(name)
            guard abs(letters.count - other.count) <= 1 else { return false }
            return letters == other || letters.sorted() == other.sorted() || EditDistance.between(letters, other) <= 1
        }
    }

    /// In lower case, letters and digits only: `Volume (cubic feet)` is `volumecubicfeet`.
    package static func folded(_ name: String) -> String {
        String(name.lowercased().filter { $0.isLetter || $0.isNumber })
    }
}
