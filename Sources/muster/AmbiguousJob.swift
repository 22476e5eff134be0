import LocalAPI

/// The jobs that a name fits, one a line, as the list of jobs shows them: what tells them apart does not fit a sentence.
struct AmbiguousJob {
    /// Without the jobs.
    private let sentence: String
    private let jobs: [JobListEntry]
    private let isPart: Bool

    /// Where the sentence begins to name them.
    private static let list = "; name one by its id: "

    /// Nil where the list does not have all of them, such as removed jobs without late work.
    init?(_ error: APIError, _ client: LocalClient) async {
        let ids = error.candidates.compactMap { $0.split(separator: " ").first.map(String.init) }
        guard let end = error.message.utf8.firstRange(of: Self.list.utf8)?.lowerBound else { return nil }
        let all = (try? await client.jobs()) ?? []
        jobs = all.filter { ids.contains($0.id) }
        guard !ids.isEmpty, jobs.count == ids.count else { return nil }
        sentence = String(error.message[..<end])
        isPart = ids.count == 8
    }

    func tell() {
        let more = isPart ? " ('muster job list' shows all)" : ""
        StandardError.say("\(Text.plain(sentence)); name one by its id\(more):")
        let columns = JobListCommand.columns(ShortIDs(jobs.map(\.id))).filter { Self.told.contains($0.key) }
        let table = Table(of: jobs, showing: columns)
        StandardError.write(table.lines(on: .error).map { $0 + "\n" }.joined())
    }

    private static let told = ["id", "name", "state", "items"]
}
