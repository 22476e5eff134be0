import Identity
import Storage
import Systemd

extension Store {
    /// Who the server is; a new one has a new key.
    func papers() async throws -> (key: DeviceKey, certificates: String) {
        let papers = try await serverPapers { DeviceKey().pem }
        guard let key = DeviceKey(pem: papers.key) else {
            throw StartProblem(.badData, "The server's key in the database cannot be read; put a backup back.")
        }
        return (key, papers.certificates)
    }
}
