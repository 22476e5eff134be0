import CRDT
import Outbox

/// What always holds, and what holds in the end.
extension OutboxWorld {
    private mutating func fail(_ text: String) {
        violations.append("seed \(seed) at \(now) ms: \(text)")
    }

    mutating func checkSending(_ sent: Sent, from device: Int) {
        let one = devices[device]
        if !one.isRouteUp { fail("\(sent.entries) leave without a route") }
        if now < one.quietUntil { fail("\(sent.entries) leave although the server wants silence") }
        if one.underWay.count >= OutboxLimits().inFlight { fail("too many are under way") }
        if sent.entries.isEmpty || sent.entries.count > OutboxLimits().inExchange {
            fail("an odd number goes together")
        }
        for (place, entry) in sent.entries.enumerated() {
            checkSending(entry, behind: Set(sent.entries[..<place].map(\.token)), from: device)
        }
        let hasOrder = sent.entries.contains { isOrdered($0.token, on: device) }
        for other in one.underWay.values.flatMap(\.self) where hasOrder && isOrdered(other, on: device) {
            fail("\(sent.entries.map(\.token)) leave beside \(other)")
        }
        if sent.entries.count > 1, let other = sent.entries.first(where: { (one.records[$0.token]?.failures ?? 0) > 1 })
        {
            fail("\(other.token) has failed before and goes in company")
        }
    }

    /// - Parameter before: those that go before it in its exchange.
    private mutating func checkSending(_ entry: OutboxEntry, behind before: Set<MutationToken>, from device: Int) {
        let one = devices[device]
        let line = one.machine.queue.first { $0.entry.token == entry.token }
        if line?.record.attempts != one.records[entry.token]?.attempts {
            fail("\(entry.token) leaves before its attempt is durable")
        }
        if one.withdrawn.contains(entry.token) { fail("\(entry.token) leaves although it is withdrawn") }
        if one.published[entry.job]?.outcomes[entry.token] != nil {
            fail("\(entry.token) leaves although it is settled")
        }
        let pauses = one.machine.standing
        if entry.isOwn, pauses.isPaused || pauses.pausedLanes.contains(entry.lane) { fail("\(entry.token) is paused") }
        let underWay = Set(one.underWay.values.flatMap(\.self))
        if underWay.contains(entry.token) { fail("\(entry.token) is under way already") }
        guard case .pending = one.records[entry.token]?.state else { return }
        let order = MutationKinds.tested[entry.request.kind]?.laneOrder
        for other in one.known.values where other.lane == entry.lane && other.author == entry.author {
            guard other.token != entry.token, order != .concurrent, isOpen(other, on: device),
                !before.contains(other.token)
            else { continue }
            if underWay.contains(other.token) { fail("two of the lane \(entry.lane) are under way") }
            if order == .firstInFirstOut, other.sequence < entry.sequence { fail("\(entry.lane) is out of order") }
        }
    }

    private func isOrdered(_ token: MutationToken, on device: Int) -> Bool {
        devices[device].machine.queue.first { $0.entry.token == token }.map(isOrdered) ?? false
    }

    /// Each of an exchange is the one that would be next if those before it were answered.
    private mutating func checkTurns(of tokens: [MutationToken], in queue: [QueuedMutation], elapsed: UInt64) {
        for (place, token) in tokens.enumerated() {
            let before = Set(tokens[..<place])
            guard let begun = queue.first(where: { $0.entry.token == token }), isOrdered(begun) else { continue }
            for other in queue where other.entry.token != token && !before.contains(other.entry.token) {
                guard rank(other) < rank(begun), other.state != .sending || tokens.contains(other.entry.token),
                    mayGo(other, behind: before, in: queue, elapsed: elapsed)
                else { continue }
                fail("\(begun) goes before \(other) in an exchange of \(tokens.count)")
            }
        }
    }

    /// Whether it could go if those before it were answered, the slow way.
    private func mayGo(
        _ line: QueuedMutation, behind before: Set<MutationToken>, in queue: [QueuedMutation], elapsed: UInt64
    ) -> Bool {
        guard isOrdered(line), [.ready, .waiting, .behind, .sending].contains(line.state) else { return false }
        if let wait = line.record.wait, line.state != .sending, wait.end + 1 >= elapsed { return false }
        let isFirst = MutationKinds.tested[line.entry.request.kind]?.laneOrder == .firstInFirstOut
        return !queue.contains { other in
            guard other.record.state == .pending, !before.contains(other.entry.token), other.state != .rejected else {
                return false
            }
            if other.entry.token == line.entry.request.after { return true }
            guard other.entry.lane == line.entry.lane, other.entry.author == line.entry.author else { return false }
            return isFirst ? other.entry.sequence < line.entry.sequence : other.entry.sequence > line.entry.sequence
        }
    }

    /// Whether a device has no answer to it yet.
    private func isOpen(_ entry: OutboxEntry, on device: Int) -> Bool {
        let one = devices[device]
        let state = one.records[entry.token]?.state ?? .pending
        return state == .pending && !one.withdrawn.contains(entry.token)
            && one.published[entry.job]?.outcomes[entry.token] == nil
    }

    mutating func check(_ device: Int, after directives: [OutboxMachine.Directive]) {
        let queue = devices[device].machine.queue
        let elapsed = devices[device].elapsed(now)
        let sending = devices[device].unwritten.count + devices[device].underWay.count
        if sending > OutboxLimits().inFlight { fail("too many attempts") }
        let hidden = queue.filter { $0.state == .dropping || $0.record.state == .answered(.rejected) }
        if devices[device].machine.notShown != Set(hidden.map(\.entry.token)) { fail("what is not shown is not told") }
        let own = queue.filter(\.entry.isOwn)
        let (paused, rejected) = (own.count { $0.state == .paused }, own.count { $0.state == .rejected })
        if devices[device].machine.ownCounts != (own.count - paused - rejected, paused, rejected) {
            fail("the queue is miscounted")
        }
        // Whoever could go and does not has to be less urgent than those that were begun just now.
        let left = queue.filter { line in
            line.state == .ready || line.state == .waiting && line.record.wait.map { $0.end + 1 < elapsed } ?? true
        }
        for directive in directives where devices[device].machine.accused.isEmpty {
            checkTurns(of: directive.begun.map(\.token), in: queue, elapsed: elapsed)
        }
        for record in directives.flatMap(\.begun) {
            guard let begun = queue.first(where: { $0.entry.token == record.token }), begun.state == .sending else {
                continue
            }
            // While one is accused another stands in for it: the one that has failed least.
            for other in left where rank(other) < rank(begun) && devices[device].machine.accused.isEmpty {
                fail("\(record.token) goes before \(other.entry.token)")
            }
        }
        // Nothing waits for an event that may never come.
        let rest = devices[device].machine.standing.rest
        let mayGo = devices[device].isRouteUp && !left.isEmpty && rest.map { $0.wait.end + 1 < elapsed } ?? true
        let isAlone = queue.contains { $0.state == .sending && isOrdered($0) } && left.first.map(isOrdered) ?? false
        if mayGo, !isAlone, sending < (rest == nil ? OutboxLimits().inFlight : 1) {
            fail("\(left[0].entry.lane) could go and does not: \(queue.map(\.state)), \(rest as Any)")
        }
        if let due = devices[device].machine.nextDeadline, due + 1 < elapsed { fail("the timer is busy") }
        let isWaiting = queue.contains { $0.state == .ready || $0.state == .waiting }
        if devices[device].isRouteUp, isWaiting, sending == 0, devices[device].machine.nextDeadline == nil {
            fail("nothing is due and something waits: \(queue.map { "\($0.state) \($0.entry.lane)" })")
        }
    }

    private func isOrdered(_ line: QueuedMutation) -> Bool {
        line.record.state == .pending && MutationKinds.tested[line.entry.request.kind]?.laneOrder != .concurrent
    }

    private func rank(_ line: QueuedMutation) -> (Int, UInt64, MutationToken) {
        (-Int(line.entry.request.priority), line.entry.created.rawValue, line.entry.token)
    }

    mutating func checkEnd() {
        guard violations.isEmpty else { return }
        for token in askedOrder where server.outcomes[token] == nil { fail("\(token) is lost") }
        for (token, count) in server.effects where count != 1 { fail("\(token) was carried out \(count) times") }
        checkOrder()
        for device in devices.indices { checkEnd(of: device) }
    }

    /// The office has carried out each author's lane in its order.
    private mutating func checkOrder() {
        var last: [String: UInt64] = [:]
        for token in server.carriedOut {
            guard let entry = asked[token], MutationKinds.tested[entry.request.kind]?.laneOrder == .firstInFirstOut
            else {
                continue
            }
            let lane = "\(entry.lane) \(entry.author)"
            if last[lane, default: 0] > entry.sequence { fail("the office has \(lane) out of order") }
            last[lane] = entry.sequence
        }
    }

    private mutating func checkEnd(of device: Int) {
        let one = devices[device]
        let open = one.machine.queue.filter { $0.state != .rejected }
        if !open.isEmpty { fail("device \(device) still has \(open.map(\.state))") }
        for (job, standing) in server.standings.sorted(by: { $0.key < $1.key }) {
            let requests = askedOrder.compactMap { one.known[$0] }.filter {
                $0.job == job && !one.withdrawn.contains($0.token)
            }
            let published = one.published[job] ?? PublishedJob()
            let overlay = Overlay(
                published: published.standing, outcomes: Set(published.outcomes.keys),
                requests: requests.map(\.request), leftOut: one.machine.notShown, kinds: .tested)
            if overlay.shown != standing || !overlay.pending.isEmpty { fail("device \(device) shows \(overlay)") }
        }
        for token in askedOrder {
            guard asked[token]?.author == one.replica, !one.withdrawn.contains(token) else { continue }
            let isRejected = server.outcomes[token]?.verdict == .rejected
            if isRejected, !one.told.contains(token) { fail("nobody was told that \(token) was rejected") }
        }
        for record in one.records.values {
            guard case .rejected = record.state else { fail("device \(device) keeps \(record)"); continue }
        }
    }
}

extension OutboxMachine.Directive {
    /// The records of the exchange that it begins.
    fileprivate var begun: [OutboxRecord] {
        if case .begin(_, let records) = self { records } else { [] }
    }
}
