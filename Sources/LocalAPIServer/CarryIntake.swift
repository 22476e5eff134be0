package import LocalAPI

/// Takes a carried file in while it comes.
package protocol CarryIntake: Sendable {
    /// More of it has come; returns when that is taken in, so that no more lies in memory.
    func add(_ bytes: [UInt8]) async
    /// All of it has come. Throws `invalidValue` where nothing of it could be looked at.
    func finish() async throws -> CarryReport
}
