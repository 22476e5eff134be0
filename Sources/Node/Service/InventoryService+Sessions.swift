import Engine
import HTTPCoding
import Inventory
import LocalAPI
import LocalAPIServer
import Storage

/// Who is at this laptop, for each user of the machine (docs/people.md).
extension InventoryService {
    func serving(_ caller: LocalCaller) -> any MusterService { called(by: caller) }

    /// The same service for whom it answers.
    func called(by caller: LocalCaller) -> InventoryService {
        var service = self
        service.caller = caller
        return service
    }

    /// Who is here as the user who asks; nil while nobody is, and where the kernel does not say who asks.
    var currentSession: WorkSession? {
        get async throws {
            guard let user else { return nil }
            return try await store.currentSessions()[user]
        }
    }

    func sessionReport() async throws -> SessionReport {
        try await answering {
            SessionReport(user: Int(try knownUser), session: try await currentSession.map(Session.init))
        }
    }

    func beginSession(_ request: BeginSessionRequest) async throws -> SessionReport {
        try await answering {
            let user = try knownUser
            let name = try await store.crewList().name(for: request.name, isNew: request.isNew ?? false)
            let former = try await currentSession
            let clock = clockStatus
            let session = WorkSession(
                name: name, since: nowMilliseconds, drift: clock.driftMilliseconds.flatMap(Int64.init(rounding:)),
                uncertainty: clock.uncertaintyMilliseconds.flatMap(Int64.init(rounding:)))
            guard let session else { throw CrewRefusal.length }
            try await store.begin(session, of: user)
            return SessionReport(user: Int(user), session: Session(session), former: former.map(Session.init))
        }
    }

    func endSession() async throws -> SessionReport {
        try await answering {
            let user = try knownUser
            let former = try await currentSession
            try await store.endSession(of: user)
            return SessionReport(user: Int(user), session: nil, former: former.map(Session.init))
        }
    }

    func crew() async throws -> CrewReport {
        try await answering {
            let sessions = try await store.currentSessions().sorted { $0.key < $1.key }
            return CrewReport(
                names: try await store.crewList().names,
                sessions: sessions.map { UserSession(user: Int($0.key), session: Session($0.value)) })
        }
    }

    private var knownUser: UInt32 {
        get throws {
            guard let user else {
                throw APIError(
                    .notPermitted, "The system does not say which user asks; ask through the daemon's Unix socket.")
            }
            return user
        }
    }
}

extension Int64 {
    /// Nil for what no number is near.
    fileprivate init?(rounding number: Double) { self.init(exactly: number.rounded()) }
}

extension Session {
    init(_ session: WorkSession) {
        self.init(
            name: session.name, since: Timestamp(milliseconds: Int64(clamping: session.since)),
            driftMilliseconds: session.drift.map(Double.init),
            uncertaintyMilliseconds: session.uncertainty.map(Double.init))
    }
}
