package import Inventory
package import Storage

extension TimelineCursor {
    /// All lines that are left.
    package func rest() async throws -> [TimelineEntry] {
        var entries: [TimelineEntry] = []
        while let lines = try await next() { entries += lines.map(\.entry) }
        return entries
    }
}
