import Hummingbird

extension Route {
    static let metrics = [
        Route(.get, "/v1/metrics", query: Page.query, isLong: true) { request, _, service in
            try Page(of: request).answer(try await service.metrics(), request)
        }
    ]
}
