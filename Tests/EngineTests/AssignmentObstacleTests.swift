import Authorship
import CRDT
import Replication
import Testing
import Transport

@testable import Engine
@testable import Simulation

/// What is told of who is on a job and cannot be taken.
@Suite("Words about who is on a job that are not taken", .timeLimit(.minutes(1)))
struct AssignmentObstacleTests {
    private struct Refusing: AssignmentRegister {
        let obstacle: AssignmentObstacle

        var rosters: [(job: JobID, roster: JobRoster)] { [] }
        func roster(of job: JobID) -> JobRoster { JobRoster() }
        func access(of device: DeviceID) -> JobAccess { JobAccess(device) }
        func receives(_ job: JobID) -> Bool { true }
        func learn(_ statements: [Assignment]) async throws(AssignmentObstacle) { throw obstacle }
        func cutOff(_ devices: Set<DeviceID>) async {}
        func rostersOfNewFleet() async -> [(job: JobID, roster: JobRoster)]? { nil }
    }

    @Test(
        "Whoever tells what nobody who may has signed is named; where the own disk is full nobody is",
        arguments: [AssignmentObstacle.unsigned("It is not signed."), .notKept("The disk is full.")])
    func naming(obstacle: AssignmentObstacle) throws {
        let anna = try Anna(assignments: Refusing(obstacle: obstacle))
        let bert = TestSigner(9)
        let word = try #require(
            Assignment(
                of: Anna.job, [Assignment.Word(bert.device, isOn: true)], stamp: Stamp(milliseconds: 1, counter: 0),
                signer: bert.device, certificates: []
            ) { bert.signature(over: $0) })
        let refused = try anna.scheduler.finish {
            await anna.replicator.attach(anna.links)
            let link = LinkID(number: 1)
            await anna.greet(2, on: link)
            await anna.answer(on: link)
            await anna.replicator.received(.ready, on: link)
            await anna.replicator.received(.assignments([word]), on: link)
            return await anna.replicator.refusedWork
        }
        #expect(anna.links.closed == [obstacle.description])
        #expect(refused.count == (obstacle == .unsigned("It is not signed.") ? 1 : 0))
    }
}
