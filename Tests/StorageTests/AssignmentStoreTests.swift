import CRDT
import Simulation
import Storage
import Testing

@Suite("Assignments are kept")
struct AssignmentStoreTests {
    private let job = JobID("smith") ?? JobID(.job)

    private func statement(_ devices: [DeviceID], at milliseconds: UInt64) throws -> Assignment {
        try #require(
            Assignment(
                of: job, devices.map { Assignment.Word($0, isOn: true) },
                stamp: Stamp(milliseconds: milliseconds, counter: 0), signer: DeviceID(high: 9, low: 9),
                certificates: [[1, 2], [3]]
            ) { _ in [UInt8](repeating: 7, count: 64) })
    }

    @Test("Those of a job are replaced as a whole, and each fleet has its own")
    func kept() async throws {
        let place = try Place()
        let store = try await place.open()
        let (first, second) = (
            try statement([DeviceID(high: 1, low: 1)], at: 1), try statement([DeviceID(high: 2, low: 2)], at: 2)
        )
        var roster = JobRoster()
        _ = roster.apply(first)
        try await store.keepAssignments([(job, roster)], of: [1])
        _ = roster.apply(second)
        try await store.keepAssignments([(job, roster)], of: [1])
        #expect(Set(try await store.assignments(of: [1])) == [first, second])
        #expect(try await store.assignments(of: [2]).isEmpty)
        var other = JobRoster()
        _ = other.apply(second)
        try await store.keepAssignments([(job, other)], of: [1])
        #expect(try await store.assignments(of: [1]) == [second])
    }
}
