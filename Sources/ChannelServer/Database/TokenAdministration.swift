package import Storage

/// Makes, lists and revokes the tokens of devices. It may do so while the server runs.
package struct TokenAdministration: Sendable {
    private let store: Store
    private let now = WallClock()

    /// - Throws: `StartProblem`.
    package init(databasePath: String) throws {
        store = try DatabaseFile.open(databasePath)
    }

    /// - Returns: the token, which is shown this once and stored nowhere.
    package func add(_ name: String) async throws -> String {
        let isPrintable = name.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
        guard (1...64).contains(name.utf8.count), isPrintable else {
            throw StartProblem(.usage, "A token's name has 1 to 64 characters without spaces; give another.")
        }
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let secret = "muster_" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        guard try await store.addAccess(name: name, secret: secret, nowMilliseconds: now.received.milliseconds) else {
            throw StartProblem(
                .badData, "There is a token of the name \(name); revoke it first, or choose another name.")
        }
        return secret
    }

    /// The last token of each name, ordered by name, also when it is revoked; never its secret.
    package func list() async throws -> [Access] { try await store.accessList() }

    /// Lets a token hold no longer; a server that runs still believes it for two seconds at most.
    ///
    /// - Throws: `StartProblem` when no token of that name holds.
    package func revoke(_ name: String) async throws {
        guard try await store.revokeAccess(name: name, nowMilliseconds: now.received.milliseconds) else {
            throw StartProblem(
                .badData, "No token of the name \(name) holds; 'muster-channel token list' shows those that do.")
        }
    }

    /// Closes the database; to be called last.
    package func close() throws { try store.close() }
}
