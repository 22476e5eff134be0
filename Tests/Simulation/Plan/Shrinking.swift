/// Makes a failing history short: drops steps as long as the same rule is still broken (Zeller and Hildebrandt,
/// "Simplifying and Isolating Failure-Inducing Input", 2002).
package enum Shrinking {
    /// - Parameter attempts: runs at most; a history that is shorter than before is worth having at any time.
    package static func shortest(_ plan: Plan, breaking rule: String, attempts: Int = 400) async throws -> Plan {
        var shortest = plan
        var left = attempts
        var size = max(1, plan.steps.count / 2)
        while true {
            var start = 0
            var hasShrunk = false
            while start < shortest.steps.count, left > 0 {
                var candidate = shortest
                candidate.steps.drop(start..<min(start + size, candidate.steps.count))
                left -= 1
                if try await Simulation.run(candidate).violation?.rule == rule {
                    shortest = candidate
                    hasShrunk = true
                } else {
                    start += size
                }
            }
            if left == 0 || size == 1 && !hasShrunk { return shortest }
            if size > 1 { size /= 2 }
        }
    }
}

extension [Step] {
    /// What follows keeps its time.
    fileprivate mutating func drop(_ range: Range<Int>) {
        let wait = self[range].reduce(0) { $0 + $1.wait }
        removeSubrange(range)
        if range.lowerBound < count { self[range.lowerBound].wait += wait }
    }
}
