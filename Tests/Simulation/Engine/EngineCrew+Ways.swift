import CRDT
import Replication
import Storage

/// What happens between laptops.
extension EngineCrew {
    /// The way between two laptops gets bad, or one of them talks nonsense.
    func disturb(_ first: Int, _ second: Int) {
        let disturbance = generator.pick(Disturbance.allCases)
        scheduler.tell("the way from laptop \(first) to \(second): \(disturbance)")
        switch disturbance {
        case .cut, .cutAgain, .cutOften: network.cut(first, second)
        case .hang: network.hang(first, second)
        case .congestion: network.congest(first, second)
        case .halfEnd: network.end(first, leaving: second)
        case .nonsense: talkNonsense(from: first, to: second)
        }
    }

    private enum Disturbance: CaseIterable {
        /// Most often.
        case cut, cutAgain, cutOften
        /// Nothing gets along it, and nobody sees that.
        case hang
        /// What the first writes backs up.
        case congestion
        /// The first ends the connection, and the second does not hear of it.
        case halfEnd
        /// Something comes that the first has not sent.
        case nonsense
    }

    private func talkNonsense(from first: Int, to second: Int) {
        let (laptop, job) = (laptops[first], generator.pick(jobs))
        let garbage = generator.pick(Garbage.allCases)
        guard laptop.isAwake else { return }
        begin(on: laptop) { [self] in
            let store = laptop.engine.store
            // Of its own journal: who is told of theirs that it goes on takes another name (docs/forks.md).
            let own = store.identity.replica
            guard let head = try? await store.vector(of: job)[own],
                let segment = try await store.segment(of: own, job: job, from: head.sequence, maximumBytes: 1)
            else { return }
            let forged = Message.delta(job: job, garbage.applied(to: segment), pushed: true)
            guard network.forge(forged, from: first, to: second) else { return }
            counters[.forged] += 1
            maligned.insert(store.identity.device)
        }
    }
}
