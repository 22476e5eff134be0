import CRDT
import Inventory
import Outbox
import Simulation

/// Every order in which two requests, their replies, the polls of the channel, two losses and two restarts can follow each
/// other, with what a person sees after each step.
struct Walk {
    struct Action: Hashable {
        enum Kind: CaseIterable { case serve, reply, lose, poll, hear, restart, wait }
        let kind: Kind
        var token = MutationToken(0)
    }

    /// What is under way together.
    private struct Exchange: Hashable {
        let number: OutboxMachine.ExchangeNumber
        let entries: [OutboxEntry]
        var outcomes: [Outcome] = []

        var first: MutationToken { entries[0].token }
    }

    /// One laptop and the office.
    private struct Scene {
        var machine = OutboxMachine(kinds: .all)
        var generator = SeededGenerator(seed: 1)
        var now: UInt64 = 0
        var server = ModelServer()
        var published = PublishedJob()
        /// How much of the channel the machine has heard of.
        var heard = 0
        var records: [MutationToken: OutboxRecord] = [:]
        var underWay: [Exchange] = []
        var restarts = 0
        var losses = 0
        var lastShown = JobState.inProgress
        /// What was shown and is not any more: it may never come back.
        var left: Set<JobState> = []
        var lastPublished = 0
    }

    let officeCancels: Bool
    private(set) var ends = 0
    private(set) var violations: Set<String> = []
    private(set) var taken: [Action.Kind: Int] = [:]

    private let entries: [OutboxEntry]

    init(officeCancels: Bool) {
        self.officeCancels = officeCancels
        let first = MutationToken(1)
        let requests = [
            AdvanceState(to: .dispatched).request(token: first, after: nil),
            AdvanceState(to: .inProgress).request(token: MutationToken(2), after: first),
        ]
        entries = requests.enumerated().map {
            OutboxEntry(
                request: $1, job: Desk.job, author: Desk.anna, sequence: UInt64($0), created: .zero, isOwn: true)
        }
    }

    mutating func explore() {
        var scene = Scene()
        scene.server.publish([PublishedValue(name: .jobState, value: JobState.scheduled.rawValue)], job: Desk.job)
        scene.published.take(scene.server.channels[Desk.job]?.first ?? ModelServer.Entry(outcome: nil, values: []))
        scene.heard = 1
        start(&scene)
        visit(scene, path: "")
    }

    private mutating func visit(_ scene: Scene, path: String) {
        let actions = possible(scene)
        if actions.isEmpty { return end(scene, path: path) }
        for action in actions {
            taken[action.kind, default: 0] += 1
            var next = scene
            take(action, &next)
            let path = "\(path) \(action.kind)\(action.token.value)"
            look(&next, path: path)
            visit(next, path: path)
        }
    }

    private func possible(_ scene: Scene) -> [Action] {
        var actions: [Action] = []
        for exchange in scene.underWay {
            let isServed = !exchange.outcomes.isEmpty
            actions.append(Action(kind: isServed ? .reply : .serve, token: exchange.first))
            if isServed, scene.losses < 2 { actions.append(Action(kind: .lose, token: exchange.first)) }
        }
        let length = scene.server.channels[Desk.job]?.count ?? 0
        if scene.published.length < length { actions.append(Action(kind: .poll)) }
        if scene.heard < scene.published.length { actions.append(Action(kind: .hear)) }
        if scene.restarts < 2, !scene.machine.queue.isEmpty { actions.append(Action(kind: .restart)) }
        let isMoving = actions.contains { $0.kind != .restart }
        if !isMoving, scene.machine.nextDeadline != nil { actions.append(Action(kind: .wait)) }
        return actions
    }

    private func take(_ action: Action, _ scene: inout Scene) {
        let index = scene.underWay.firstIndex { $0.first == action.token }
        let length = scene.published.length
        switch action.kind {
        case .serve:
            guard let index else { return }
            for entry in scene.underWay[index].entries {
                guard case .outcome(let outcome) = scene.server.deliver(entry.request, job: Desk.job) else { break }
                scene.underWay[index].outcomes.append(outcome)
                guard officeCancels, entry.token == MutationToken(1) else { continue }
                if scene.server.standings[Desk.job]?.state == .dispatched {
                    let cancelled = PublishedValue(name: .jobState, value: JobState.cancelled.rawValue)
                    scene.server.publish([cancelled], job: Desk.job)
                }
                // In between it can come to the job only if it stops here.
                break
            }
        case .reply, .lose:
            guard let index else { return }
            let exchange = scene.underWay.remove(at: index)
            var reply = OutboxMachine.Reply.decided(exchange.outcomes)
            if action.kind == .lose {
                reply = .answerLost(reason: "reset")
                scene.losses += 1
            }
            carryOut(
                scene.machine.onReply(exchange.number, reply, now: scene.now, using: &scene.generator), &scene)
        case .poll:
            if let entry = scene.server.channels[Desk.job]?[length] { scene.published.take(entry) }
        case .hear:
            if let outcome = scene.server.channels[Desk.job]?[scene.heard].outcome {
                carryOut(scene.machine.onOutcome(outcome, now: scene.now, using: &scene.generator), &scene)
            }
            scene.heard += 1
        case .restart:
            scene.restarts += 1
            scene.underWay = []
            scene.machine = OutboxMachine(kinds: .all)
            scene.heard = length
            start(&scene)
        case .wait:
            scene.now = max(scene.now, scene.machine.nextDeadline ?? 0)
            carryOut(scene.machine.onTimer(now: scene.now, using: &scene.generator), &scene)
        }
    }

    private func start(_ scene: inout Scene) {
        let open = entries.filter { scene.published.outcomes[$0.token] == nil || scene.records[$0.token] != nil }
        let outcomes = open.compactMap { scene.published.outcomes[$0.token] }
        carryOut(
            scene.machine.onStart(
                entries: open, records: Array(scene.records.values), outcomes: outcomes, now: scene.now,
                using: &scene.generator), &scene)
        carryOut(scene.machine.onRoute(isUp: true, now: scene.now, using: &scene.generator), &scene)
    }

    private func carryOut(_ directives: [OutboxMachine.Directive], _ scene: inout Scene) {
        for directive in directives {
            switch directive {
            case .write(.records(let records)):
                for record in records { scene.records[record.token] = record }
            case .begin(let begun, let records):
                for record in records { scene.records[record.token] = record }
                carryOut(scene.machine.onPersisted(begun, now: scene.now, using: &scene.generator), &scene)
            case .write(.forget(let token)): scene.records[token] = nil
            case .send(let entries, let number):
                scene.underWay.append(Exchange(number: number, entries: entries))
            case .cancel(let number): scene.underWay.removeAll { $0.number == number }
            default: break
            }
        }
    }

    private func overlay(_ scene: Scene) -> Overlay {
        Overlay(
            published: scene.published.standing, outcomes: Set(scene.published.outcomes.keys),
            requests: entries.map(\.request), leftOut: scene.machine.notShown)
    }

    private mutating func look(_ scene: inout Scene, path: String) {
        let overlay = overlay(scene)
        guard let shown = overlay.shown.state else { return }
        // Both taps were made: until the office says otherwise the second one is what is seen.
        if !officeCancels, shown != .inProgress { violations.insert("\(shown) after\(path)") }
        if scene.left.contains(shown) { violations.insert("\(shown) flickers back after\(path)") }
        if shown != scene.lastShown { scene.left.insert(scene.lastShown) }
        if scene.published.length < scene.lastPublished { violations.insert("published went back after\(path)") }
        scene.lastShown = shown
        scene.lastPublished = scene.published.length
    }

    private mutating func end(_ scene: Scene, path: String) {
        ends += 1
        let overlay = overlay(scene)
        if overlay.shown != overlay.published || !overlay.pending.isEmpty { violations.insert("left after\(path)") }
        let expected = officeCancels ? JobState.cancelled : .inProgress
        if overlay.published.state != expected {
            violations.insert("ends \(overlay.published.state as Any) after\(path)")
        }
        if scene.server.effects.values.contains(where: { $0 != 1 }) { violations.insert("twice after\(path)") }
        let rest = scene.machine.queue.map(\.state)
        if rest != (officeCancels ? [.rejected] : []) { violations.insert("queue \(rest) after\(path)") }
    }
}
