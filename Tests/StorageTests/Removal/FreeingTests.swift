import GRDB
import Testing

@testable import Storage

@Suite("What a removed job leaves", .timeLimit(.minutes(1)))
struct FreeingTests {
    /// With a list of rows in place of a bound each step looked at a million rows, and the whole took two minutes, not ten seconds.
    @Test(
        "A step looks at no more rows than it deletes",
        arguments: Store.freed.map { ($0.0, $0.1) } + [("formerItem", "item")])
    func bounded(table: String, key: String) async throws {
        let place = try Place()
        let store = try await place.open("anna")
        let columns = key.split(separator: ",").count
        let sql = Store.deletion(from: table, key, upTo: columns)
        let plan = try await store.read { db in
            try Row.fetchAll(
                db, sql: "EXPLAIN QUERY PLAN " + sql,
                arguments: StatementArguments(Array(repeating: 1, count: columns + 1))
            ).map { $0["detail"] as String }
        }
        #expect(plan.count == 1 && plan[0].contains("SEARCH \(table)"))
        #expect(plan[0].contains("job=? AND ") && plan[0].contains("<"), "\(plan)")
    }
}
