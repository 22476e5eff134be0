import CRDT
import Inventory
import Testing

@Suite("Job states")
struct JobStateMachineTests {
    private static let order: [PublishedJobState] = [
        .scheduled, .dispatched, .inProgress, .awaitingSignature, .completed,
    ]

    @Test(
        "Each state leads to the next, before the end to cancelled, and from the signature back to work: nothing else")
    func transitions() {
        for state in PublishedJobState.allCases {
            for next in PublishedJobState.allCases {
                var machine = JobStateMachine(state: state)
                let published = try? machine.apply(.advance(to: next))
                let place = Self.order.firstIndex(of: state)
                let isNext = place.map { $0 + 1 } == Self.order.firstIndex(of: next) && place != nil
                let isCancelled = next == .cancelled && state != .completed && state != .cancelled
                let isBack = state == .awaitingSignature && next == .inProgress
                #expect((published != nil) == (isNext || isCancelled || isBack), "\(state) to \(next)")
                #expect(machine.state == (published == nil ? state : next))
                if let published {
                    #expect(published == [PublishedValue(name: PublishedName.state, value: next.rawValue)])
                }
            }
        }
    }

    @Test("A job is opened once, and nothing else is done to it before")
    func opening() throws {
        var machine = JobStateMachine(state: nil)
        #expect(throws: JobStateMachine.Refusal.self) { try machine.apply(.advance(to: .scheduled)) }
        #expect(throws: JobStateMachine.Refusal.self) { try machine.apply(.signOff(signature: "{}")) }
        let published = try machine.apply(.open(name: "Jones", kind: .pickup))
        #expect(published.map(\.value) == ["Jones", "pickup", "scheduled"])
        #expect(throws: JobStateMachine.Refusal.self) { try machine.apply(.open(name: "Jones", kind: .pickup)) }
    }

    @Test("It is signed only while it waits for a signature", arguments: PublishedJobState.allCases)
    func signing(state: PublishedJobState) {
        var machine = JobStateMachine(state: state)
        let published = try? machine.apply(.signOff(signature: "{}"))
        #expect((published != nil) == (state == .awaitingSignature))
        #expect(machine.state == state)
    }
}
