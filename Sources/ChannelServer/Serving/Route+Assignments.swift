import CRDT
import Hummingbird
import ServerChannel

extension Route {
    /// Laptops bring what leads and the office have said of who is on jobs, and hear it.
    static let assigning = [
        Route(.get, "/v1/jobs/{job}/assignments") { exchange, service in
            try .json(AssignmentList(try await service.statements(of: exchange.job(), for: exchange.access)))
        },
        Route(.post, "/v1/assignments") { exchange, service in
            let list = try await exchange.json(AssignmentList.self)
            guard list.assignments.count <= ChannelLimits.assignments else {
                throw ChannelProblem(
                    .tooLarge, "These are over \(ChannelLimits.assignments) assignments; bring some at a time.")
            }
            return try .json(AssignmentList(try await service.assign(list.statements())))
        },
    ]
}
