package import CRDT
import Timekeeping

/// The time comes with the answers to pings, and before anything else (rule R5).
extension Mesh {
    mutating func onPong(
        _ number: UInt64, received: Int64, answered: Int64, _ quality: ClockQuality, on id: LinkID, now: UInt64
    ) -> [MessageDirective] {
        guard let link = links[id], let peer = link.greeted, let sent = link.pingSent, sent.number == number else {
            return []
        }
        links[id]?.pingSent = nil
        links[id]?.roundTripMilliseconds = now - sent.at
        // Whole milliseconds: it may have gone out at the beginning of one and come in at the end of another.
        let exchange = TimeExchange(
            sent: Int64(clamping: sent.at) * 1_000, received: received, answered: answered,
            returned: Int64(clamping: now) * 1_000 + 999)
        return [.learnTime(exchange, quality, from: peer.device, on: id)]
    }

    /// What a new link's peer says of the time is in force, and this device's work may be shown to it.
    ///
    /// Does nothing for a link that is gone, still waits for an answer, or was ready before.
    package mutating func onTimeLearned(_ id: LinkID, now: UInt64) -> [GreetingDirective] {
        guard let link = links[id], let learning = link.learning, link.pingSent == nil, !learning.isReady else {
            return []
        }
        links[id]?.learning?.isReady = true
        links[id]?.learning?.askAgainDue = nil
        return [.send(.ready, on: id)] + (learning.isPeerReady ? establish(id) : [])
    }

    /// The clocks of the two ends are not settled: one of them has yet to follow. It is asked again in a moment.
    package mutating func onTimeUnsettled(_ id: LinkID, now: UInt64) {
        guard let learning = links[id]?.learning, !learning.isReady else { return }
        links[id]?.learning?.askAgainDue = now + timing.settleInterval
    }

    /// Whether there is time left to settle on one time; if not, the work is shown all the same.
    package func isPatient(with link: LinkID, now: UInt64) -> Bool {
        links[link]?.learning.map { now < $0.since + timing.settleLimit } ?? false
    }

    mutating func onReady(_ id: LinkID) -> [GreetingDirective] {
        guard let learning = links[id]?.learning, !learning.isPeerReady else {
            return [refuse(id, "The peer is ready for the second time.")]
        }
        links[id]?.learning?.isPeerReady = true
        return learning.isReady ? establish(id) : []
    }

    mutating func askAgain(now: UInt64) -> [LinkDirective] {
        var directives: [LinkDirective] = []
        for id in links.keys.sorted() {
            guard let due = links[id]?.learning?.askAgainDue, due <= now else { continue }
            links[id]?.learning?.askAgainDue = nil
            directives.append(ping(id, now: now))
        }
        return directives
    }

    /// What this store had written and nobody has seen was shifted: its journal has another digest.
    ///
    /// - Parameter replica: the name that the store bore then; `onRenewed` may come after it as well as before.
    package mutating func onRestamped(job: JobID, replica: ReplicaID, head: JournalHead, now: UInt64) {
        // What was written after the step may have been told of before it: it has the new digest already.
        guard jobs[job]?.vector[replica].sequence ?? 0 <= head.sequence else { return }
        // The last commits may not have been told of yet: they bring an old digest, and must come too late. Who was compared
        // with meanwhile hears of them now.
        willChange(job)
        jobs[job, default: JobProgress()].vector.set(replica, to: head)
        announceLater(JournalName(job: job, replica: replica), now: now)
    }
}
