import NIOHTTP1

extension LocalClient {
    /// `GET /v1/diagnostics`: 200.
    package func diagnostics() async throws -> Diagnostics { try await call(.GET, ["diagnostics"]) }
}
