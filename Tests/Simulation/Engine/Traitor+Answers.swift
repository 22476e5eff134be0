import CRDT
import Engine
import Replication

/// What a traitor hears, and what it says where it is asked.
extension Traitor {
    func answer(_ message: Message, on link: LinkID) {
        switch message {
        case .fingerprint: if generator.oneIn(3) { wire.send(.bucketsRequest, on: link) }
        case .bucketsRequest:
            let values = (0..<ProtocolLimits.jobBuckets).map { _ in generator.next() }
            wire.send(.buckets(values), on: link)
        case .summariesRequest(let bucket):
            let lines = jobs.map { JobSummary(job: $0, fingerprint: generator.next()) }
            wire.send(.summaries(bucket: bucket, lines), on: link)
        case .vectorRequest(let job): sendVector(of: job, on: link)
        case .vector(let job, let vector, let end):
            heard.add(end?.removal, of: job)
            hear(vector.entries, of: job, on: link)
        case .have(let job, let entries): hear(entries, of: job, on: link)
        case .request(let job, let replica, let from, _, _):
            send(HeardRuns.Name(job: job, replica: replica), from: from, on: link)
        case .delta(let job, let segment, _): hear(segment, of: job, on: link)
        case .probe(let job, let replica, let sequence):
            answerProbe(HeardRuns.Name(job: job, replica: replica), at: sequence, on: link)
        case .reportRequest(let job, let number):
            let digest = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let vector = heard.vector(of: job)
            wire.send(.report(JobDigestReport(job: job, number: number, vector: vector, digest: digest)), on: link)
        case .assignments(let statements): words = Array((words + statements).suffix(Self.mostWords))
        default: break
        }
    }

    private func hear(_ entries: [VersionVector.Entry], of job: JobID, on link: LinkID) {
        for entry in entries {
            let name = HeardRuns.Name(job: job, replica: entry.replica)
            // Who asks for what went with a job is sent the vector again: only what is new is asked for.
            guard links[link]?.heads.updateValue(entry.head, forKey: name) != entry.head, generator.oneIn(2) else {
                continue
            }
            // From the beginning, or only what it has not heard.
            let from = generator.oneIn(2) ? 1 : heard.vector(of: job)[entry.replica].sequence + 1
            guard from <= entry.head.sequence else { continue }
            wire.send(
                .request(job: job, replica: entry.replica, from: from, credit: 16 << 10, graft: generator.oneIn(4)),
                on: link)
        }
    }

    private func hear(_ segment: JournalSegment, of job: JobID, on link: LinkID) {
        heard.add(segment, of: job, using: &generator)
        links[link]?.heads[HeardRuns.Name(job: job, replica: segment.replica)] = segment.head
        guard !isQuiet else { return }
        // As long as others lack it.
        for other in ready where other != link && generator.oneIn(5) {
            let alterations: [Treason] = [.alteredByte, .omission, .otherOrder, .wrongSignature, .otherHead, .replay]
            pass(segment, of: job, as: generator.pick(alterations), on: other)
        }
    }

    /// A vector of what it has heard, or of what nobody holds.
    func sendVector(of job: JobID, on link: LinkID) {
        var vector = heard.vector(of: job)
        if !isQuiet, generator.oneIn(2) {
            for entry in vector.entries where generator.oneIn(2) {
                vector.set(entry.replica, to: falseHead(near: entry.head))
                count(.falseVector)
            }
        }
        // What it says of the end of a job is what others have said: any member may end one that is everybody's (docs/membership.md).
        let end = generator.oneIn(2) ? heard.removals[job].map { ToldEnd($0) } : nil
        wire.send(.vector(job: job, vector, end: end), on: link)
    }

    private func send(_ name: HeardRuns.Name, from sequence: UInt64, on link: LinkID) {
        guard let run = heard.run(of: name, from: sequence, using: &generator) else {
            if !isQuiet, generator.oneIn(2) { impersonate(name, on: link) }
            return
        }
        if links[link]?.plots.remove(name) != nil {
            count(.partAsBranch)
            return wire.send(.delta(job: name.job, run, pushed: false), on: link)
        }
        guard !isQuiet, generator.oneIn(2) else {
            return wire.send(.delta(job: name.job, run, pushed: false), on: link)
        }
        // Or it says nothing.
        if !generator.oneIn(4) { pass(run, of: name.job, as: generator.pick(treasons), on: link) }
    }

    /// Where one journal parts from another is found by such answers.
    private func answerProbe(_ name: HeardRuns.Name, at sequence: UInt64, on link: LinkID) {
        let isPlot = links[link]?.plots.contains(name) ?? false
        let held = heard.runs(of: name).map(\.head).first { $0.sequence == sequence }
        var answer = ProbeAnswer(sequence: sequence, boundary: held, changeHash: generator.next())
        if isPlot {
            answer.boundary = JournalHead(sequence: sequence, digest: generator.digest())
            answer.changeHash = 0
            count(.falseProbe)
        } else if !isQuiet, generator.oneIn(2) {
            let near = JournalHead(sequence: sequence, digest: .empty)
            answer.boundary = generator.oneIn(3) ? nil : falseHead(near: near)
            answer.changeHash = generator.oneIn(2) ? 0 : generator.next()
            count(.falseProbe)
        } else if generator.oneIn(3) {
            // It says nothing.
            return
        }
        wire.send(.probeAnswer(job: name.job, replica: name.replica, answer), on: link)
    }

    /// One that nobody has.
    func falseHead(near head: JournalHead) -> JournalHead {
        let sequence = head.sequence + (generator.oneIn(2) ? 0 : UInt64.random(in: 1...40, using: &generator))
        return JournalHead(sequence: max(1, sequence), digest: generator.digest())
    }
}
