import Hummingbird
import LocalAPI

extension Route {
    static let sessions = [
        Route(.get, "/v1/session") { _, _, service in try Answer.json(try await service.sessionReport()) },
        Route(.post, "/v1/session") { request, _, service in
            let begin = try await request.decode(BeginSessionRequest.self)
            return try Answer.json(try await service.beginSession(begin))
        },
        Route(.delete, "/v1/session") { _, _, service in try Answer.json(try await service.endSession()) },
        Route(.get, "/v1/crew") { _, _, service in try Answer.json(try await service.crew()) },
    ]
}
