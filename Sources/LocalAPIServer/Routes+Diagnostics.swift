import HTTPTypes
import LocalAPI

extension Route {
    static let diagnostics = [
        Route(.get, "/v1/diagnostics", isLong: true) { _, _, service in
            try Answer.json(try await service.diagnostics())
        }
    ]
}
