import LocalAPI
import Storage

/// Living jobs of one name.
struct Namesakes {
    let name: String
    /// Each by its id, with what tells it from the others.
    let jobs: [String]
}

/// What is told of the jobs.
extension HealthRules {
    /// Of more names, or jobs of one name, the number is told.
    private static let told = 3

    static func jobs(_ counts: JobCounts, namesakes: [Namesakes]) -> HealthCheck {
        let counted = "\(counts.living)" + (counts.removed == 0 ? "" : ", and \(counts.removed) removed with late work")
        guard !namesakes.isEmpty else { return .ok(.jobs, counted) }
        var findings = namesakes.prefix(told).map { same in
            let more = same.jobs.count - told
            let listed = same.jobs.prefix(told).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
            return "\(same.jobs.count) jobs are called '\(same.name)': \(listed)"
        }
        let more = namesakes.count - told
        if more > 0 { findings.append("\(more) more name\(more == 1 ? " stands" : "s stand") for several jobs") }
        return .warn(
            .jobs, ([counted] + findings).joined(separator: "; "),
            remedy: "tell them apart with 'muster job rename ID NAME', or remove what was made twice")
    }
}
