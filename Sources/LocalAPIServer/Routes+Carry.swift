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
            let intake = try await service.beginCarryIn()
            do {
                for try await piece in request.body { await intake.add(Array(piece.readableBytesView)) }
            } catch {
                // What stood before it broke off is taken.
                _ = try? await intake.finish()
                throw error
            }
            return try Answer.json(try await intake.finish())
        },
    ]

    /// Of a carried file.
    static let carriedMediaType = "application/octet-stream"
}
