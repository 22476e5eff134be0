import Inventory
import Testing

@Suite("States of a job")
struct JobStateTests {
    @Test("A job goes from each state to the next one, and nowhere from the last")
    func forward() {
        let path: [JobState] = [.scheduled, .dispatched, .inProgress, .awaitingSignature, .completed]
        for (state, next) in zip(path, path.dropFirst()) { #expect(state.allows(next)) }
        #expect(JobState.allCases.filter(\.isFinal) == [.completed, .cancelled])
    }

    @Test("Exactly the transitions of the table are allowed")
    func table() {
        var allowed: [String] = []
        for state in JobState.allCases {
            allowed += JobState.allCases.filter(state.allows).map { "\(state) \($0)" }
        }
        #expect(
            allowed == [
                "scheduled dispatched", "scheduled cancelled", "dispatched inProgress", "dispatched cancelled",
                "inProgress awaitingSignature", "inProgress cancelled", "awaitingSignature inProgress",
                "awaitingSignature completed", "awaitingSignature cancelled",
            ])
    }
}
