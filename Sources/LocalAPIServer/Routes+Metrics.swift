import Hummingbird

extension Route {
    static let metrics = [
        Route(.get, "/v1/metrics", isLong: true) { _, _, service in try Answer.json(try await service.metrics()) }
    ]
}
