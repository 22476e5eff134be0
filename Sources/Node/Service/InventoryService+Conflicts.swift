import CRDT
import Inventory
import LocalAPI
import Storage

/// Concurrent edits and duplicate barcodes: to see, and to settle.
extension InventoryService {
    func conflicts(job text: String) async throws -> ConflictReport {
        try await answering {
            let job = try await living(text)
            var edits: [ConflictingEdit] = []
            let conflicts = try await store.conflicts(job: job.id)
            // After them: who wrote them is among these.
            let authors = Authors(job: job, sessions: try await store.workSessions(of: job.id))
            for item in conflicts where item.state.removed == nil {
                for field in item.state.fields {
                    guard let rivals = Rivals(field.register, by: authors) else { continue }
                    edits.append(
                        ConflictingEdit(
                            item: item.id.description, itemName: item.conflictLabel, field: field.name.text,
                            winner: rivals.winner, losers: rivals.losers))
                }
            }
            let shared = try await store.duplicateBarcodes(job: job.id)
            let labels = try await store.labels(of: Set(shared.flatMap(\.items)), in: job.id)
            let duplicates = shared.map { duplicate in
                LocalAPI.DuplicateBarcode(
                    barcode: duplicate.barcode, items: duplicate.items.map(\.description),
                    itemNames: duplicate.items.map { labels[$0] == duplicate.barcode ? nil : labels[$0] })
            }
            return ConflictReport(
                edits: edits, duplicateBarcodes: duplicates, future: try await futureEdits(of: job))
        }
    }

    /// The length of what `conflicts` lists.
    func conflictCount(of job: StoredJob) async throws -> Int {
        try await job.conflicts + store.totals(of: job.id).duplicateBarcodes
    }

    func settle(_ request: SettleRequest, job text: String) async throws -> SettledConflict {
        try await answering {
            let job = try await living(text)
            let item = try await conflicting(request.item, in: job)
            let authors = Authors(job: job, sessions: try await store.workSessions(of: job.id))
            guard let field = item.state.fields.first(where: { FieldText.isSame($0.name.text, request.field) }),
                let rivals = Rivals(field.register, by: authors)
            else {
                throw APIError(
                    .noConflict,
                    "The field '\(request.field)' has no rival values there; 'muster job conflicts' lists the fields that do."
                )
            }
            let value = try rivals.value(chosenBy: request.take, of: field.name)
            try await make(
                .settle(
                    item: item.id, field: Edit.FieldValue(field: field.name, value: value),
                    rivals: field.register.heads.map(\.write)), job: job.id, requiresItem: true)
            return SettledConflict(
                item: item.id.description, itemName: item.conflictLabel, field: field.name.text, value: value,
                replaced: rivals.all)
        }
    }

    /// An item, or the job's own.
    private func conflicting(_ text: String, in job: StoredJob) async throws -> StoredItem {
        guard text == ConflictingEdit.jobItself || ItemID(text) == .job else {
            return try await resolve(item: text, job: job.id)
        }
        return StoredItem(id: .job, state: job.properties)
    }
}

extension StoredItem {
    /// For people.
    fileprivate var conflictLabel: String? { id == .job ? "the job itself" : state.label }
}

/// The values of a field that were written without their authors knowing of each other.
struct Rivals {
    let winner: WrittenValue
    /// The latest first.
    let losers: [WrittenValue]

    var all: [WrittenValue] { [winner] + losers }

    init(winner: WrittenValue, losers: [WrittenValue]) {
        self.winner = winner
        self.losers = losers
    }

    /// Nil where there is no conflict.
    init?(_ register: Register, by authors: Authors) {
        guard let winner = register.winner, !register.losers.isEmpty else { return nil }
        self.init(
            winner: authors.written(winner), losers: register.losers.reversed().map(authors.written))
    }

    /// The value that a person means: one of the values as it is, else that of one author.
    ///
    /// - Parameter text: a value; else a host's or a person's name, or the beginning of a replica id.
    /// - Throws: `APIError` with the choices.
    func value(chosenBy text: String, of field: FieldName) throws(APIError) -> String {
        if let rival = all.first(where: { FieldText.isSame($0.value, text) }) { return rival.value }
        let digits = text.lowercased()
        let written = all.filter { rival in
            [rival.byName, rival.person].contains { $0.map { FieldText.isSame($0, text) } ?? false }
                || rival.by.begins(with: digits)
        }
        guard let first = written.first else { throw refusal("'\(text)' is none of the rivals of '\(field)'") }
        // One laptop may be two replicas; what they wrote may be the same.
        guard written.allSatisfy({ FieldText.isSame($0.value, first.value) }) else {
            throw refusal("'\(text)' fits \(written.count) rivals of '\(field)'")
        }
        return first.value
    }

    /// A value that is longer is not typed again.
    private static let longestChoice = 80

    private func refusal(_ finding: String) -> APIError {
        let choices = all.map { rival in
            let value =
                rival.value.count > Self.longestChoice ? rival.value.prefix(Self.longestChoice) + "…" : rival.value
            return "'\(value)' by \(rival.byName ?? String(rival.by.prefix(8)))"
        }
        return APIError(
            .unknownRival,
            "\(finding); take one of \(choices.joined(separator: ", ")), or name its author.",
            candidates: choices)
    }
}
