import Hummingbird
import ServerChannel

extension Route {
    /// Laptops keep their place in the fleet. Whose certificate has run out is heard, too, as it has nowhere else to go.
    static let renewing = [
        Route(.post, "/v1/certificates", isForMembers: false) { exchange, service in
            let time = service.now.microseconds / 1_000
            return try .json(
                CertificateList(try await service.identity.renewal(showing: exchange.context.chain, at: time)))
        }
    ]
}
