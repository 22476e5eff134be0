import Inventory
import LocalAPI

/// Names of fields by which people look for items. One that no item has is most likely mistyped: nobody may believe that the attic is
/// empty because he wrote `rom=Attic`.
enum FieldNames {
    /// Of those that are to be empty: what no item has, each item lacks.
    static func checkEmpty(_ filters: [FieldFilter], in job: JobArgument, _ client: LocalClient) async throws {
        try await check(filters.filter(\.value.isEmpty).map(\.field), in: job, client)
    }

    /// - Throws: `APIError` for a name that is neither well-known nor a field of any item of the job, with what was meant perhaps.
    static func check(_ names: [String], in job: JobArgument, _ client: LocalClient) async throws {
        var unknown = Set(names).subtracting(WellKnownField.all)
        guard !unknown.isEmpty else { return }
        var known: Set<String> = []
        try await client.items(job: job.reference, matching: []) { (items: [ItemView]) in
            for item in items { known.formUnion(item.fields.keys) }
        }
        unknown.subtract(known)
        // An empty job has no fields that could be meant.
        guard !known.isEmpty, let name = unknown.sorted().first else { return }
        let others = known.union(WellKnownField.all).sorted()
        let hint = NearestName.of(name, among: others).map { "did you mean '\($0)'?" }
        throw APIError(
            .invalidValue,
            "No item of this job has a field '\(name)'; \(hint ?? "they have \(known.sorted().prefix(12).joined(separator: ", ")).")"
        )
    }
}
