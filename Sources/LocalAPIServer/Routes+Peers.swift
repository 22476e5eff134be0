import Hummingbird
import LocalAPI

extension Route {
    static let peers = [
        Route(.get, "/v1/peers", query: Page.query) { request, _, service in
            try Page(of: request).answer(try await service.peers(), request)
        },
        Route(.post, "/v1/peers") { request, _, service in
            let peer = try await request.decode(AddPeerRequest.self)
            return try Answer.json(try await service.addPeer(peer), status: .accepted)
        },
        Route(.delete, "/v1/peers/{address}") { _, context, service in
            try Answer.json(try await service.removePeer(context.parameter("address")))
        },
        Route(.get, "/v1/addresses", query: Page.query) { request, _, service in
            try Page(of: request).answer(try await service.ownAddresses(), request)
        },
    ]
}
