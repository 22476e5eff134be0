import CRDT

/// Sorts incoming messages to their part of the mesh.
extension Mesh {
    /// Takes a message in. One that breaks the protocol closes its link; of a link that is gone nothing counts.
    package mutating func onMessage(_ message: Message, on link: LinkID, now: UInt64) -> [MessageDirective] {
        guard links[link] != nil else { return [] }
        links[link]?.lastHeard = now
        onSign(of: link, at: now)
        if case .hello(let hello) = message { return onHello(hello, on: link, now: now) }
        guard links[link]?.greeted != nil else { return [refuse(link, "A message before the hello.")] }
        switch message {
        case .ping(let number): return [.answerPing(number, received: now, on: link)]
        case .pong(let number, let received, let answered, let quality):
            return onPong(number, received: received, answered: answered, quality, on: link, now: now)
        case .revocations(let entries): return [.learnRevocations(entries, from: link)]
        case .ready: return onReady(link).map(MessageDirective.greeting)
        case .goodbye(let reason): return [.close(link, reason: "The peer said goodbye: \(reason)")]
        default: break
        }
        guard links[link]?.isEstablished ?? false else {
            return [refuse(link, "A message before both sides were ready.")]
        }
        return onWork(message, on: link, now: now)
    }

    /// What an established link carries.
    private mutating func onWork(_ message: Message, on link: LinkID, now: UInt64) -> [MessageDirective] {
        switch message {
        case .hello, .ping, .pong, .revocations, .ready, .goodbye: return []
        case .fingerprint, .bucketsRequest, .buckets, .summariesRequest, .summaries, .vectorRequest:
            return [MessageDirective](onComparing(message, on: link, now: now))
        case .vector, .have, .prune: return onKnowledge(message, on: link, now: now)
        case .request, .credit, .delta: return onTransfer(message, on: link, now: now)
        case .assignments(let statements): return [.learnAssignments(statements, from: link)]
        case .probe(let job, let replica, let sequence):
            guard mayTell(replica, of: job, to: link) else {
                let nothing = ProbeAnswer(sequence: sequence, boundary: nil, changeHash: 0)
                return [.send(.probeAnswer(job: job, replica: replica, nothing), on: link)]
            }
            return [.answerProbe(job, replica, sequence: sequence, on: link)]
        case .probeAnswer(let job, let replica, let answer):
            let name = JournalName(job: job, replica: replica)
            return [MessageDirective](onProbeAnswer(answer, name, on: link, now: now))
        case .forked(let job, let replica):
            return [MessageDirective](onForked(JournalName(job: job, replica: replica), on: link, now: now))
        case .reportRequest(let job, let number):
            guard let count = links[link]?.reportsUnderWay, count < MeshLimits.reportsPerLink else {
                return [refuse(link, "The peer asks for too much at once.")]
            }
            guard !isBarred(from: job, link) else {
                return [
                    .send(
                        .report(JobDigestReport(job: job, number: number, vector: VersionVector(), digest: [])),
                        on: link)
                ]
            }
            links[link]?.reportsUnderWay += 1
            return [.report(job, number: number, to: link)]
        case .report(let report): return [.reported(report, by: link)]
        }
    }

    /// A peer's question about a job was answered.
    package mutating func onReportSent(to link: LinkID) {
        links[link]?.reportsUnderWay -= 1
    }

    private mutating func onKnowledge(_ message: Message, on link: LinkID, now: UInt64) -> [MessageDirective] {
        switch message {
        case .vector(let job, let vector, let end):
            return onEnd(end, vector, of: job, on: link, now: now)
        case .have(let job, let entries):
            return [MessageDirective](onHave(entries, of: job, on: link, now: now))
        case .prune(let job):
            openIfEqual(job, on: link)
            links[link]?.jobs[job]?.isLazy = true
            return []
        default: return []
        }
    }

    private mutating func onTransfer(_ message: Message, on link: LinkID, now: UInt64) -> [MessageDirective] {
        switch message {
        case .request(let job, let replica, let from, let credit, let graft):
            if graft { links[link]?.jobs[job]?.graft() }
            let name = JournalName(job: job, replica: replica)
            return onRequest(name, from: from, credit: Int(credit), on: link).map(MessageDirective.stream)
        case .credit(let job, let replica, let bytes):
            let name = JournalName(job: job, replica: replica)
            return onCredit(name, bytes: Int(bytes), on: link).map(MessageDirective.stream)
        case .delta(let job, let segment, let pushed):
            return onDelta(segment, of: job, pushed: pushed, on: link, now: now)
        default: return []
        }
    }
}
