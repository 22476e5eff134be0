import CRDT
import Inventory
import Outbox
import Testing

@Suite("Published state with the pending requests merged over it")
struct OverlayTests {
    private func request(_ number: UInt128, _ mutation: some MutationKind) -> MutationRequest {
        mutation.request(token: MutationToken(number), after: nil)
    }

    private func standing(_ state: JobState) -> JobStanding {
        JobStanding(values: [.jobState: state.rawValue])
    }

    @Test("A tap shows at once, and published state stays what it is")
    func showsAtOnce() {
        let requests = [request(1, AdvanceState(to: .dispatched)), request(2, AdvanceState(to: .inProgress))]
        let overlay = Overlay(published: standing(.scheduled), outcomes: [], requests: requests)
        #expect(overlay.published.state == .scheduled && overlay.shown.state == .inProgress)
        #expect(overlay.pending == [.jobState: MutationToken(2)])
    }

    @Test("A request goes by its token when its outcome is published, and not before")
    func goesByToken() {
        let requests = [request(1, AdvanceState(to: .dispatched))]
        let done = Overlay(published: standing(.dispatched), outcomes: [MutationToken(1)], requests: requests)
        #expect(done.shown == done.published && done.pending == [:])
        let rejected = Overlay(published: standing(.cancelled), outcomes: [MutationToken(1)], requests: requests)
        #expect(rejected.shown.state == .cancelled && rejected.pending == [:])
    }

    @Test("What the server would refuse as things stand is not shown, nor what nobody here understands")
    func refused() {
        var requests = [request(1, AdvanceState(to: .completed))]
        requests.append(
            MutationRequest(
                token: MutationToken(2), lane: "x", after: nil, priority: 0, kind: "unheard", payload: []))
        let overlay = Overlay(published: standing(.scheduled), outcomes: [], requests: requests)
        #expect(overlay.shown.state == .scheduled && overlay.pending == [:])
    }

    @Test("A job is shown as opened and signed before the office knows")
    func openedAndSigned() throws {
        let sign = try #require(SignOff.examples.first)
        var requests = [request(1, OpenJob(name: "Smith", kind: .pickup))]
        for (index, state) in [JobState.dispatched, .inProgress, .awaitingSignature].enumerated() {
            requests.append(request(UInt128(index + 2), AdvanceState(to: state)))
        }
        requests.append(request(5, sign))
        let overlay = Overlay(published: JobStanding(), outcomes: [], requests: requests)
        #expect(overlay.shown.state == .awaitingSignature && overlay.shown[.jobName] == "Smith")
        #expect(overlay.pending[.signature] == MutationToken(5) && overlay.pending[.jobName] == MutationToken(1))
        let dropped = Overlay(
            published: JobStanding(), outcomes: [], requests: requests, leftOut: [MutationToken(1)])
        #expect(dropped.shown == JobStanding())
    }

    @Test("Whatever the order of poll, reply, lost reply and restart, nothing that was shown flickers back")
    func acceptedInterleavings() {
        var walk = Walk(officeCancels: false)
        walk.explore()
        #expect(walk.violations == [])
        #expect(walk.ends > 1_000)
        #expect(Set(walk.taken.keys) == Set(Walk.Action.Kind.allCases))
    }

    @Test("The same when the office cancels the job in between and the second request is rejected")
    func rejectedInterleavings() {
        var walk = Walk(officeCancels: true)
        walk.explore()
        #expect(walk.violations == [])
        #expect(walk.ends > 1_000)
        #expect(Set(walk.taken.keys) == Set(Walk.Action.Kind.allCases))
    }
}
