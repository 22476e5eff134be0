import CRDT
import Engine
import HTTPCoding
import Inventory
import LocalAPI
import Storage

/// What jobs are called, and which one is meant.
extension InventoryService {
    /// Which jobs a name is looked for among first.
    enum JobPreference {
        /// A removed job gives its name back: it is meant where no living one fits.
        case living
        /// Whoever decides about late work means a job that has some.
        case late
    }

    /// A job by its id, a unique beginning or end of it (four characters at least), or its exact name.
    func resolve(job text: String, preferring preference: JobPreference = .living) async throws -> StoredJob {
        if let id = JobID(text) {
            do {
                let job = try await store.job(id)
                // A removed job gives back what it was called, be that its id.
                guard job.isRemoved, preference == .living else { return job }
                let namesakes = try await store.jobs().filter { !$0.isRemoved && $0.isNamed(exactly: text) }
                guard namesakes.count < 2 else { throw try await ambiguous(text, namesakes) }
                return namesakes.first ?? job
            } catch let error as StoreError where error.code == .unknownJob {
                // It may be a name or a prefix.
            }
        }
        let jobs = try await store.jobs()
        // A whole name goes before a part of somebody's id, be the job removed: who removes "ecad" twice must not remove the job whose id
        // ends so.
        var groups: [[StoredJob]] = []
        for fitting in [jobs.filter { $0.name == text }, jobs.filter { $0.hasID(abbreviated: text) }] {
            if preference == .late { groups.append(try await withLateWork(fitting)) }
            groups += [fitting.filter { !$0.isRemoved }, fitting.filter(\.isRemoved)]
        }
        guard !text.isEmpty, let meant = groups.first(where: { !$0.isEmpty }) else {
            throw APIError(.unknownJob, "There is no job '\(text)' here; \(Self.meant(text, among: jobs))")
        }
        // Lists show ids of six characters and more: what such a one is of somebody else's job names neither.
        if text.utf8.count >= 6, !meant[0].isRemoved {
            let others = jobs.filter { job in
                !job.isRemoved && job.hasID(abbreviated: text) && !meant.contains { $0.id == job.id }
            }
            guard others.isEmpty else { throw try await ambiguous(text, meant + others) }
        }
        // Bytes decide. Only where they fit none, a name counts that Unicode holds equal: people type what they see.
        let named = meant.filter { $0.isNamed(exactly: text) }
        if named.count == 1 { return named[0] }
        guard meant.count == 1 else { throw try await ambiguous(text, meant) }
        return meant[0]
    }

    /// What may be meant by a name that no job has: one that was mistyped, else those that begin so, or nearly.
    private static func meant(_ text: String, among jobs: [StoredJob]) -> String {
        // Of two jobs of one name neither is nearer.
        let names = Set(jobs.lazy.filter { !$0.isRemoved }.map(\.name)).sorted()
        var nearest: [String] = []
        let folded = NearestName.folded(text)
        // Names of customers and streets have much in common by themselves: 'Oak Street' is not meant as 'Elm Street'.
        let slips = text.count < 6 ? 1 : 2
        if text.count > 2 { nearest = [NearestName.of(text, among: names, slips: slips)].compactMap(\.self) }
        if nearest.isEmpty, !folded.isEmpty {
            nearest = Array(names.filter { NearestName.folded($0).hasPrefix(folded) }.prefix(3))
        }
        if nearest.isEmpty, text.count > 4 {
            let beginnings = names.map { String($0.prefix(text.count)) }
            let begun = NearestName.of(text, among: beginnings, slips: slips)
            nearest = Array(zip(names, beginnings).filter { $0.1 == begun }.map(\.0).prefix(3))
        }
        guard !nearest.isEmpty else { return "'muster job list' shows the jobs." }
        return "did you mean \(nearest.map { "'\($0)'" }.joined(separator: " or "))?"
    }

    private func withLateWork(_ jobs: [StoredJob]) async throws -> [StoredJob] {
        var found: [StoredJob] = []
        for job in jobs where try await !store.lateChanges(of: job.id).isEmpty { found.append(job) }
        return found
    }

    /// One sentence with what people need to choose.
    private func ambiguous(_ text: String, _ jobs: [StoredJob]) async throws -> APIError {
        var described: [String] = []
        for job in jobs.prefix(Self.mostCandidates) {
            described.append("\(job.id) (\(try await description(of: job)))")
        }
        return APIError(
            .ambiguousJob,
            "'\(text)' fits \(jobs.count)\(jobs[0].isRemoved ? " removed" : "") jobs; name one by its id: "
                + "\(Self.list(described, of: jobs.count)).",
            candidates: jobs.prefix(Self.mostCandidates).map { "\($0.id) \($0.name)" })
    }

    /// What tells a job from another of its name.
    func description(of job: StoredJob) async throws -> String {
        if job.isRemoved {
            let day = try await store.removalStamp(of: job.id).map { "removed on \($0.day)" }
            return day ?? "removed"
        }
        let changed = try await store.lastStamp(of: job.id).map { ", changed on \($0.day)" } ?? ""
        return "\(job.kind.rawValue), \(job.items) \(job.items == 1 ? "item" : "items")\(changed)"
    }

    /// A name as people may give it to a job.
    static func jobName(_ text: String) throws -> String {
        let name = try FieldText.entered(text, as: .key, called: "The job's name")
        guard !name.isEmpty, name.utf8.count <= 256 else {
            throw APIError(.invalidValue, "A job needs a name of 1 to 256 bytes; give one with --name.")
        }
        return name
    }

    func renameJob(_ request: RenameJobRequest, job text: String) async throws -> Identified {
        try await answering {
            let name = try Self.jobName(request.name)
            let job = try await resolve(job: text).id
            let fields = [
                Edit.FieldValue(field: JobProperty.name, value: name),
                Edit.FieldValue(field: JobProperty.renamed, value: "true"),
            ]
            _ = try await store.edit(
                job: job, isAllOrNothing: true, now: { clock.now }, by: writer(.job),
                [.put(item: .job, fields: fields)])
            return Identified(id: job.text)
        }
    }
}

extension StoredJob {
    fileprivate func isNamed(exactly text: String) -> Bool { FieldText.isSame(name, text) }

    /// Of four characters at least: fewer are typed by accident, or are what is left of an empty variable.
    fileprivate func hasID(abbreviated text: String) -> Bool {
        if text.utf8.count >= 4, id.text.begins(with: text) || id.text.ends(with: text) { return true }
        // Short ids have no hyphens.
        guard ItemID(id.text) != nil else { return false }
        let (id, part) = (id.text.filter { $0 != "-" }, text.filter { $0 != "-" })
        return part.utf8.count >= 4 && (id.begins(with: part) || id.ends(with: part))
    }
}

extension Stamp {
    /// In UTC.
    fileprivate var day: String { String(timestamp.description.prefix(10)) }
}
