import Logging
import Transport

/// What those do who are no peers yet. There may be many of them: it is counted.
enum StrangerEvent: String, Comparable {
    case refused = "a connection was refused"
    case notShown = "who answered at an address did not show to be of the fleet"
    case endedEarly = "a connection ended before its peer was greeted"
    case proofIgnored = "a peer's word that this store was set back is not believed a second time so soon"

    static func < (left: StrangerEvent, right: StrangerEvent) -> Bool { left.rawValue < right.rawValue }
}

extension Replicator {
    func note(_ event: StrangerEvent, _ detail: String) {
        if let report = strangers.note(event, detail: detail, now: now) { log(report) }
        if strangersTimer.deadline == nil { scheduleStrangers() }
    }

    private func scheduleStrangers() {
        strangersTimer.set(strangers.nextDeadline, on: machine) { [weak self] in await self?.tellOfStrangers() }
    }

    private func tellOfStrangers() {
        guard strangersTimer.begins() else { return }
        for report in strangers.removeDue(now: now) { log(report) }
        scheduleStrangers()
    }

    private func log(_ report: RepeatedEvents<StrangerEvent>.Report) {
        logger.info(
            "\(report.kind.rawValue)", metadata: ["times": "\(report.count)", "last": "\(report.detail)"])
    }
}
