import Authorship
import CRDT
import Engine
import Replication

/// What a traitor says unasked.
extension Traitor {
    func tell(_ treason: Treason, on link: LinkID) {
        switch treason {
        case .alteredByte, .omission, .otherOrder, .wrongSignature, .otherHead, .replay:
            guard let run = heard.pick(using: &generator) else { return }
            pass(run.segment, of: run.job, as: treason, on: link)
        case .impostor: if let name = pickName(on: link) { impersonate(name, on: link) }
        case .hitAndRun: hitAndRun(on: link)
        case .falseClaim, .ownClaim: claim(treason, on: link)
        case .falseVector: sendVector(of: generator.pick(jobs), on: link)
        case .falseFork:
            guard let name = pickName(on: link) else { return }
            count(.falseFork)
            wire.send(.forked(job: name.job, replica: name.replica), on: link)
        // The answers follow.
        case .falseProbe, .partAsBranch: plot(on: link)
        case .demand: demand(on: link)
        case .ownWork, .forgedRequest: if !isCrewDone { writeOwn(on: link) }
        case .ownFork: if !isCrewDone { forkOwn(on: link) }
        case .falseWord, .oldWord: speak(treason, on: link)
        }
    }

    /// A journal that the peer holds.
    private func pickName(on link: LinkID) -> HeardRuns.Name? {
        let held = links[link]?.heads ?? [:]
        let names = held.keys.sorted { ($0.job, $0.replica) < ($1.job, $1.replica) }
        return names.isEmpty ? nil : generator.pick(names)
    }

    // MARK: Others' journals

    /// Passes a run on as it is not, or as it is.
    func pass(_ segment: JournalSegment, of job: JobID, as treason: Treason, on link: LinkID) {
        let altered: JournalSegment?
        switch treason {
        case .alteredByte: altered = segment.withOtherByte(using: &generator)
        case .omission: altered = segment.withoutChange(using: &generator)
        case .otherOrder: altered = segment.inOtherOrder(using: &generator)
        case .wrongSignature: altered = segment.withWrongSignature(using: &generator)
        case .otherHead: altered = segment.withOtherHead(using: &generator)
        case .replay: altered = segment
        default: return wire.send(.delta(job: job, segment, pushed: false), on: link)
        }
        guard var altered else { return }
        altered.author = heard.author(of: segment) ?? segment.author
        count(treason)
        wire.send(.delta(job: job, altered, pushed: generator.oneIn(2)), on: link)
    }

    /// Goes on with another's journal where the peer's ends.
    func impersonate(_ name: HeardRuns.Name, on link: LinkID) {
        guard name.replica != author.replica,
            let forged = forged(name, after: links[link]?.heads[name] ?? .empty)
        else { return }
        count(.impostor)
        wire.send(.delta(job: name.job, forged, pushed: generator.oneIn(2)), on: link)
    }

    private func forged(_ name: HeardRuns.Name, after base: JournalHead) -> JournalSegment? {
        let bytes = ChangeCodec.encode(invented())
        guard let head = try? base.after(bytes) else { return nil }
        guard name.replica != .channel else { return forgedWord(bytes, head, of: name.job, after: base) }
        let known = heard.authors[name.replica]
        return JournalSegment(
            replica: name.replica, first: base.sequence + 1, head: head, bytes: bytes,
            signature: signer.sign(head, of: name.replica, job: name.job),
            author: generator.oneIn(2) ? author : generator.oneIn(2) ? known : nil)
    }

    /// As the server: with a key of its own, or with the server's after a signature that is none.
    private func forgedWord(
        _ bytes: [UInt8], _ head: JournalHead, of job: JobID, after base: JournalHead
    ) -> JournalSegment? {
        let own = signer.author(nonce: nil)
        let servers = heard.authors.values.filter(\.isServer).sorted { $0.name < $1.name }
        let known = servers.isEmpty ? nil : generator.pick(servers)
        var signature = signer.sign(head, of: .channel, job: job)
        if let known, generator.oneIn(2) {
            signature = signature.flatMap { JournalSignature(Array($0.value) + known.key) }
        } else if generator.oneIn(8) {
            signature = signature.flatMap { JournalSignature(Array($0.value)) }
        }
        return JournalSegment(
            replica: .channel, first: base.sequence + 1, head: head, bytes: bytes, signature: signature,
            author: generator.oneIn(3) ? author : generator.oneIn(2) ? known : own)
    }

    func hitAndRun(on link: LinkID) {
        guard let name = pickName(on: link), name.replica != author.replica, let base = links[link]?.heads[name],
            let forged = forged(name, after: base)
        else { return }
        count(.hitAndRun)
        wire.send(.delta(job: name.job, forged, pushed: true), on: link)
        links[link] = nil
        wire.close(link, reason: "It has gone.")
    }

    private func claim(_ treason: Treason, on link: LinkID) {
        guard let peer = links[link] else { return }
        let isOwn = treason == .ownClaim
        let name = isOwn ? ownName(of: peer) : pickName(on: link)
        guard let name else { return }
        count(treason)
        let head = falseHead(near: peer.heads[name] ?? .empty)
        wire.send(.have(job: name.job, [VersionVector.Entry(replica: name.replica, head: head)]), on: link)
    }

    /// Of a journal that the peer itself writes, or wrote.
    private func ownName(of peer: Peer) -> HeardRuns.Name? {
        let own = peer.heads.keys.filter { heard.authors[$0.replica]?.device == peer.device }
            .sorted { ($0.job, $0.replica) < ($1.job, $1.replica) }
        return own.isEmpty ? nil : generator.pick(own)
    }

    /// Says that a journal has another content, so that the peer asks where it begins to differ, and for that.
    private func plot(on link: LinkID) {
        guard let name = pickName(on: link), let head = links[link]?.heads[name], name.replica != author.replica else {
            return
        }
        links[link]?.plots.insert(name)
        let other = JournalHead(sequence: head.sequence, digest: generator.digest())
        wire.send(.have(job: name.job, [VersionVector.Entry(replica: name.replica, head: other)]), on: link)
    }

    private func demand(on link: LinkID) {
        let job = generator.oneIn(8) ? JobID(ItemID(UInt128(generator.next()))) : generator.pick(jobs)
        let name = pickName(on: link)
        let replica = name?.replica ?? ReplicaID(UInt128(generator.next()))
        let sequence = UInt64.random(in: 0...60, using: &generator)
        count(.demand)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: wire.send(.bucketsRequest, on: link)
        case 1: wire.send(.summariesRequest(bucket: UInt32.random(in: 0...300, using: &generator)), on: link)
        case 2: wire.send(.vectorRequest(job: job), on: link)
        case 3: wire.send(.reportRequest(job: job, number: generator.next()), on: link)
        case 4: wire.send(.probe(job: job, replica: replica, sequence: sequence), on: link)
        case 5: wire.send(.credit(job: job, replica: replica, bytes: 1_000), on: link)
        case 6: wire.send(.prune(job: job), on: link)
        default:
            let credit = UInt32.random(in: 0...100_000, using: &generator)
            wire.send(
                .request(job: job, replica: replica, from: sequence, credit: credit, graft: generator.oneIn(2)),
                on: link)
        }
    }
}
