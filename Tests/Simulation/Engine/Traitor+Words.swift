import CRDT
import Engine
import Replication

/// What a traitor says of who is on which job, which it may not.
extension Traitor {
    static let mostWords = 32

    func speak(_ treason: Treason, on link: LinkID) {
        guard let membership else { return }
        let old = words.isEmpty ? nil : generator.pick(words)
        if treason == .oldWord {
            guard let old else { return }
            count(.oldWord)
            return wire.send(.assignments([old]), on: link)
        }
        let job = old?.job ?? generator.pick(membership.jobs)
        guard let word = falseWord(of: job, like: old, membership) else { return }
        count(.falseWord)
        wire.send(.assignments([word]), on: link)
    }

    /// Later than all that it has heard, so that it would count.
    private func falseWord(of job: JobID, like old: Assignment?, _ membership: Membership) -> Assignment? {
        let milliseconds = UInt64((VirtualClock.epoch + scheduler.now) / 1_000) + 60_000
        let stamp = max(old?.stamp.next ?? .zero, Stamp(milliseconds: milliseconds, counter: 0))
        var said = [Assignment.Word(device, isOn: true)]
        for peer in Set(links.values.map(\.device)).sorted() where generator.oneIn(2) {
            said.append(Assignment.Word(peer, isOn: generator.oneIn(2)))
        }
        guard let old, generator.oneIn(2) else { return membership.statement(of: job, said, stamp: stamp, by: signer) }
        let own = signer
        return Assignment(
            of: job, said, stamp: stamp, signer: generator.oneIn(2) ? old.signer : device,
            certificates: old.certificates
        ) { content in generator.oneIn(2) ? old.signature : own.signature(over: content) }
    }
}
