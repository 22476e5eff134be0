import Authorship
import CRDT
import Inventory
import Outbox
import Replication

/// What a traitor writes under its own name: that is its right, as long as it is one journal.
extension Traitor {
    /// Of one job.
    struct OwnJournal {
        /// Where it ends; in two places when it has two contents.
        var ends: [JournalHead] = [.empty]
        /// Where it stood before what was written last.
        var before: JournalHead?
        var runs = 0
    }

    private static let mostRuns = 6

    /// Nobody else writes this.
    func invented() -> Change {
        let field: FieldName = generator.pick(["room", "name"])
        let text = "the traitor's \(generator.next())"
        let item = ItemID(UInt128((generator.oneIn(2) ? 1_000 : 7_000) + Int.random(in: 0..<6, using: &generator)))
        let milliseconds = UInt64((VirtualClock.epoch + scheduler.now) / 1_000)
        return Change(
            item: item, stamp: Stamp(milliseconds: milliseconds, counter: 0),
            operations: [.set(field: field, value: text, replaces: [])])
    }

    private func run(after base: JournalHead, of job: JobID, by author: JournalAuthor) -> JournalSegment? {
        var changes = [invented()]
        if generator.oneIn(2) { changes.append(forgedRequest(of: job, by: author, at: changes[0].stamp)) }
        if base == .empty {
            let name = Operation.set(field: JobProperty.author(author.replica), value: "traitor", replaces: [])
            changes.insert(Change(item: .job, stamp: changes[0].stamp, operations: [name]), at: 0)
        }
        return try? signer.segment(changes.flatMap(ChangeCodec.encode), after: base, of: job, by: author)
    }

    /// Of the state that would end the job for everybody, if anybody believed it.
    private func forgedRequest(of job: JobID, by author: JournalAuthor, at stamp: Stamp) -> Change {
        count(.forgedRequest)
        let token = MutationToken(ofKey: signer.publicKey, chance: generator.next())
        let asked = AdvanceState(to: .cancelled).request(token: token, after: nil)
        let (number, other) = (author.nonce ?? 0, JobID(ItemID(UInt128(generator.next()))))
        var request = signer.sign(asked, for: job, nonce: number)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: request = signer.sign(asked, for: other, nonce: number)
        case 1: request = signer.sign(asked, for: job, nonce: number &+ 1)
        default: request.signature.value[0] ^= 1
        }
        return Change(item: .job, stamp: stamp, operations: [.request(request)])
    }

    private func publish(_ run: JournalSegment, of job: JobID, after base: JournalHead, on link: LinkID) {
        wrote(run, job, base)
        heard.add(run, of: job, using: &generator)
        wire.send(.delta(job: job, run, pushed: generator.oneIn(2)), on: link)
    }

    func writeOwn(on link: LinkID) {
        let job = generator.pick(jobs)
        let journal = journals[job] ?? OwnJournal()
        let place = Int.random(in: 0..<journal.ends.count, using: &generator)
        let base = journal.ends[place]
        guard journal.runs < Self.mostRuns, let run = run(after: base, of: job, by: author) else { return }
        journals[job, default: journal].ends[place] = run.head
        journals[job]?.before = base
        journals[job]?.runs += 1
        count(.ownWork)
        publish(run, of: job, after: base, on: link)
    }

    /// Once in each job: how often it can be done is no matter of what is checked here (docs/threat-model.md).
    func forkOwn(on link: LinkID) {
        let forkable = jobs.filter { journals[$0]?.ends.count == 1 && journals[$0]?.before != nil }
        guard !forkable.isEmpty else { return writeOwn(on: link) }
        let job = generator.pick(forkable)
        guard let base = journals[job]?.before, let run = run(after: base, of: job, by: author) else { return }
        journals[job]?.ends.append(run.head)
        count(.ownFork)
        publish(run, of: job, after: base, on: link)
    }

    // MARK: What nobody can overlook

    /// Says something of which the peer can prove that it is not so.
    func tellProvable(on link: LinkID) {
        let held = links[link]?.heads.keys.filter { $0.replica != author.replica } ?? []
        let names = held.sorted { ($0.job, $0.replica) < ($1.job, $1.replica) }
        guard !names.isEmpty, !generator.oneIn(3) else { return tellAltered(on: link) }
        generator.oneIn(3) ? hitAndRun(on: link) : impersonate(generator.pick(names), on: link)
    }

    /// A journal that nobody knows, under a name of its own, with another content than it has signed.
    private func tellAltered(on link: LinkID) {
        let job = generator.pick(jobs)
        guard let author = signer.author(nonce: UInt128(generator.next())),
            let run = run(after: .empty, of: job, by: author), let altered = run.inOtherOrder(using: &generator)
        else { return }
        count(.otherOrder)
        wire.send(.delta(job: job, altered, pushed: true), on: link)
    }
}
