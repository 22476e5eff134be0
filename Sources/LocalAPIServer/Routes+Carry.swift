import Hummingbird
import LocalAPI

extension Route {
    static let carry = [
        Route(.get, "/v1/carry/card") { _, _, service in try Answer.json(try await service.carryCard()) },
        Route(.post, "/v1/carry/recipients") { request, _, service in
            let asked = try await request.decode(CarryRecipientsRequest.self)
            return try Answer.json(try await service.carryRecipients(asked))
        },
        Route(.post, "/v1/carry/out", isLong: true) { request, _, service in
            let asked = try await request.decode(CarryOutRequest.self)
            return Answer.chunks(try await service.carryOut(asked), mediaType: carriedMediaType)
        },
        Route(.post, "/v1/carry/in", isLong: true) { request, _, service in
            try Answer.json(try await service.carryIn(Upload(request.body)))
        },
    ]

    /// Of a carried file.
    static let carriedMediaType = "application/octet-stream"
}
