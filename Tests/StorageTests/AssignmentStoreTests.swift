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

    @Test("What says nothing any more goes, whoever has looked when; each fleet has its own")
    func kept() async throws {
        let place = try Place()
        let store = try await place.open()
        let (anna, bert) = (DeviceID(high: 1, low: 1), DeviceID(high: 2, low: 2))
        let (first, second) = (try statement([anna], at: 1), try statement([bert], at: 2))
        // Neither has seen the other.
        try await store.keepAssignments([first], of: [1])
        try await store.keepAssignments([second], of: [1])
        #expect(Set(try await store.assignments(of: [1])) == [first, second])
        #expect(try await store.assignments(of: [2]).isEmpty)
        let both = try statement([anna, bert], at: 3)
        try await store.keepAssignments([both, first], of: [1])
        #expect(try await store.assignments(of: [1]) == [both])
        try await store.keepAssignments([second], of: [1])
        #expect(try await store.assignments(of: [1]) == [both], "what is older is not kept")
    }
}
