/// What somebody has meant who has mistyped a name.
package enum NearestName {
    /// The first of those that are the fewest letters away, if these are few enough to be slips.
    package static func of(_ given: String, among names: [String]) -> String? {
        let given = given.lowercased()
        let distances = names.map { (name: $0, distance: EditDistance.between(given, $0.lowercased())) }
        guard let nearest = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        let isSlip = nearest.distance <= max(2, given.count / 3)
        return isSlip ? nearest.name : nil
    }
}
