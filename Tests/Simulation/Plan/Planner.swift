import CRDT

/// Draws a plan from a seed.
///
/// Each run gets some of the faults only (Groce et al., "Swarm Testing", 2012): a run with everything at once hides what
/// two faults alone would show.
struct Planner {
    private var generator: SeededGenerator
    private let seed: UInt64
    private let devices: Int
    private var profile = Plan.Profile()
    private var steps: [Step] = []
    private var wishes = 0
    private var items = 5
    private var joined: Int
    private var away: Int?
    private var hasSlept = false
    private var hasBulk = false
    private var hasCrowd = false
    /// Faults that have a step.
    private var planned: Set<Fault> = []

    /// - Parameter hasGateways: whether the laptops bring the office what there is; nil to draw it.
    static func plan(seed: UInt64, hasGateways: Bool? = nil) -> Plan {
        var planner = Planner(seed: seed)
        var plan = planner.make()
        var office = OfficePlanner(seed: seed)
        if hasGateways ?? office.wantsGateways { plan = office.adding(to: plan) }
        var moments = RareMoments(seed: seed)
        return moments.adding(to: plan)
    }

    private init(seed: UInt64) {
        self.seed = seed
        generator = SeededGenerator(seed: seed ^ 0x5ca1_ab1e)
        // Most faults need few laptops to show, and few are quick to simulate.
        let many = generator.oneIn(12)
        devices = many ? Int.random(in: 7...12, using: &generator) : Int.random(in: 2...6, using: &generator)
        joined = devices
        makeProfile()
    }

    private mutating func makeProfile() {
        for fault in Fault.allCases where fault.isDrawn && !fault.needsGateways {
            if generator.oneIn(fault.oneIn) { profile.faults.insert(fault) }
        }
        if profile.faults.contains(.sparseNetwork) {
            profile.topology = generator.oneIn(2) ? .chain : .star
        }
        if has(.severalJobs) { profile.jobs = Int.random(in: 2...4, using: &generator) }
        profile.longestDelay = generator.pick([2, 30, 30, 200, 2_000])
        if profile.faults.contains(.lostMessage) { profile.losesOneIn = generator.pick([50, 200, 1_000]) }
        if profile.faults.contains(.duplicate) { profile.duplicatesOneIn = generator.pick([10, 100]) }
        for index in 0..<devices { profile.clocks.append(clock(of: index)) }
        profile.presentAtStart = devices
        if devices > 2, has(.lateJoin) || has(.clone) {
            profile.presentAtStart = Int.random(in: 2..<devices, using: &generator)
        }
        joined = profile.presentAtStart
    }

    private mutating func clock(of index: Int) -> Plan.ClockProfile {
        var clock = Plan.ClockProfile()
        if has(.drift) { clock.partsPerMillion = Int64.random(in: -200...200, using: &generator) }
        if has(.wrongClock), generator.oneIn(2) {
            let hours = Int64.random(in: -48...48, using: &generator)
            clock.wallErrorMilliseconds = hours * 3_600_000 + Int64.random(in: 0...999, using: &generator)
        }
        if has(.serverTime) { clock.reachesServer = generator.oneIn(3) }
        return clock
    }

    private func has(_ fault: Fault) -> Bool { profile.faults.contains(fault) }

    private mutating func make() -> Plan {
        let count = generator.pick([20, 60, 60, 120])
        while steps.count < count { add() }
        for fault in Self.drawn where has(fault) && !planned.contains(fault) { insert(fault) }
        if has(.jobRemoval) { removeJobs() }
        return Plan(seed: seed, devices: devices, profile: profile, steps: steps)
    }

    /// A fault that chance left out.
    private mutating func insert(_ fault: Fault) {
        let first = Int.random(in: 0..<joined, using: &generator)
        let place = Int.random(in: 0...steps.count, using: &generator)
        let actions = actions(for: fault, first, other(than: first))
        steps.insert(contentsOf: actions.map { Step(wait: 0, action: $0) }, at: place)
    }

    /// Towards the end, by one or by two who do not know of each other, while others may be at work.
    private mutating func removeJobs() {
        for job in 0..<profile.jobs where job == 0 || generator.oneIn(2) {
            let remover = Int.random(in: 0..<joined, using: &generator)
            let second = other(than: remover)
            let place = Int.random(in: steps.count * 2 / 3...steps.count, using: &generator)
            var actions: [Action] = [.removeJob(remover, job: job)]
            let isApart = generator.oneIn(2)
            if generator.oneIn(3) { actions.append(.removeJob(second, job: job)) }
            if isApart {
                let rest = (0..<joined).filter { $0 != second }
                let late = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
                    Action.edit(second, [wish(in: job)])
                }
                actions.insert(contentsOf: late, at: Int.random(in: 0...actions.count, using: &generator))
                actions = rest.map { .cut(second, $0, isOneWay: false, breaks: generator.oneIn(2)) } + actions
                actions += rest.map { .heal(second, $0) }
            }
            let steps = actions.map { Step(wait: UInt64.random(in: 0...400, using: &generator), action: $0) }
            self.steps.insert(contentsOf: steps, at: place)
        }
        guard has(.lateDecision) else { return }
        for _ in 0..<3 {
            let device = Int.random(in: 0..<joined, using: &generator)
            let place = Int.random(in: steps.count * 3 / 4...steps.count, using: &generator)
            steps.insert(Step(wait: 2_000, action: .decideLate(device, accepts: generator.oneIn(2))), at: place)
        }
    }

    private mutating func other(than device: Int) -> Int {
        (device + Int.random(in: 1..<max(joined, 2), using: &generator)) % max(joined, 2)
    }

    private mutating func add() {
        let wait = generator.oneIn(5) ? 0 : UInt64.random(in: 1...generator.pick([20, 120, 3_000]), using: &generator)
        let first = Int.random(in: 0..<joined, using: &generator)
        let second = other(than: first)
        if Int.random(in: 0..<100, using: &generator) < 55 { return edit(first, wait: wait) }
        guard let fault = Self.drawn.filter({ has($0) }).randomElement(using: &generator) else { return }
        for action in actions(for: fault, first, second) { steps.append(Step(wait: wait, action: action)) }
    }

    private mutating func edit(_ device: Int, wait: UInt64) {
        let count = generator.oneIn(6) ? 3 : 1
        let job = anyJob()
        let wishes = (0..<count).map { _ in wish(in: job) }
        steps.append(Step(wait: wait, action: .edit(device, wishes)))
        // Two people write one field at the same moment: equal stamps, if their clocks are right.
        guard joined > 1, generator.oneIn(6) else { return }
        var rival = wishes[0]
        rival.number = nextNumber()
        let other = (device + Int.random(in: 1..<joined, using: &generator)) % joined
        steps.append(Step(wait: 0, action: .edit(other, [rival])))
    }

    private mutating func anyJob() -> Int {
        profile.jobs == 1 ? 0 : Int.random(in: 0..<profile.jobs, using: &generator)
    }

    private mutating func nextNumber() -> Int {
        wishes += 1
        return wishes
    }

    private mutating func wish(in job: Int) -> PlannedEdit {
        var item = Int.random(in: max(0, items - 8)..<items, using: &generator)
        if generator.oneIn(5) {
            item = items
            items += 1
        }
        // The job's own name and kind.
        if generator.oneIn(25) {
            let field = Int.random(in: 0..<Plan.jobFields.count, using: &generator)
            return PlannedEdit(job: job, item: -1, number: nextNumber(), kind: .set(fields: [field]), text: words())
        }
        let kind: PlannedEdit.Kind
        switch Int.random(in: 0..<20, using: &generator) {
        case 0, 1: kind = .remove
        case ..<6: kind = .note
        default:
            let picked = Plan.fields.indices.filter { _ in generator.oneIn(4) }
            kind = .set(fields: picked.isEmpty ? [1] : picked)
        }
        return PlannedEdit(job: job, item: item, number: nextNumber(), kind: kind, text: words())
    }

    private mutating func words() -> PlannedEdit.Words {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0...5: .own
        case 6, 7: .shared(Int.random(in: 0..<20, using: &generator))
        default: .unicode(Int.random(in: 0..<40, using: &generator))
        }
    }

    // MARK: Faults

    private mutating func actions(for fault: Fault, _ first: Int, _ second: Int) -> [Action] {
        planned.insert(fault)
        switch fault {
        case .partition, .oneWayPartition: return partition(first, second, isOneWay: fault == .oneWayPartition)
        case .brokenConnection: return [.breakConnection(first, second)]
        case .crash, .reboot:
            return [generator.oneIn(2) ? .crash(first) : .start(first, reboots: fault == .reboot)]
        case .fullDisk: return [generator.oneIn(2) ? .fillDisk(first) : .freeDisk(first)]
        case .restore:
            return [generator.oneIn(3) ? .restore(first, isNewFile: generator.oneIn(4)) : .backUp(first)]
        case .clone: return join { .clone(first, to: $0, isNoticed: $1) }
        case .lateJoin: return join { device, _ in .join(device) }
        case .sleep: return [.sleep(first, milliseconds: generator.pick([500, 20_000, 60_000]))]
        case .month: return month(first)
        case .wallJump:
            let hours = Int64.random(in: -50...50, using: &generator)
            return [.setWallClock(first, byMilliseconds: hours * 3_600_000 / 2 + 1)]
        case .serverTime:
            return [generator.oneIn(2) ? .serverEntry : .reachServer(first, generator.oneIn(2))]
        case .lie: return [.lie(first, aheadMilliseconds: generator.pick([0, 600_000, 3_600_000, 86_400_000]))]
        case .congestion: return [.congest(first, second, isCongested: generator.oneIn(2))]
        case .groupCommit:
            let edits = (0..<Int.random(in: 2...4, using: &generator)).map { _ in
                let job = anyJob()
                return (0..<Int.random(in: 1...2, using: &generator)).map { _ in wish(in: job) }
            }
            return [.editTogether(first, edits)]
        case .bulkEdit: return bulk(first)
        case .crowd: return crowd(first)
        case .lateDecision: return [.decideLate(first, accepts: generator.oneIn(2))]
        case .malformedDelta:
            guard let garbage = Garbage.allCases.randomElement(using: &generator) else { return [] }
            return [.garble(first, to: second, garbage)]
        default: return []
        }
    }

    private static let drawn: [Fault] = [
        .partition, .oneWayPartition, .brokenConnection, .crash, .crash, .reboot, .fullDisk, .restore, .clone,
        .lateJoin, .sleep, .month, .wallJump, .serverTime, .lie, .malformedDelta, .lateDecision,
        .congestion, .groupCommit, .bulkEdit, .crowd,
    ]

    /// Cuts one pair, or a group from the others; heals as often.
    private mutating func partition(_ first: Int, _ second: Int, isOneWay: Bool) -> [Action] {
        let heals = generator.oneIn(2)
        let breaks = generator.oneIn(2)
        func action(_ first: Int, _ second: Int) -> Action {
            heals ? .heal(first, second) : .cut(first, second, isOneWay: isOneWay, breaks: breaks)
        }
        guard joined > 2, generator.oneIn(3) else { return [action(first, second)] }
        let size = Int.random(in: 1..<joined, using: &generator)
        return (0..<size).flatMap { inside in (size..<joined).map { action(inside, $0) } }
    }

    private mutating func join(_ action: (Int, Bool) -> Action) -> [Action] {
        guard joined < devices else { return [] }
        joined += 1
        // Two laptops of one name find out when they meet: where they never can, the name has to be noticed.
        return [action(joined - 1, generator.oneIn(2) || profile.topology != .everybody)]
    }

    /// Once a run: some hundred items or thousands, in runs that are too long to be pushed.
    private mutating func bulk(_ device: Int) -> [Action] {
        guard !hasBulk else { return [] }
        hasBulk = true
        let count = generator.oneIn(6) && devices < 5 ? 10_000 : Int.random(in: 800...2_400, using: &generator)
        return [.bulk(device, job: anyJob(), first: 400_000, count: count)]
    }

    private mutating func crowd(_ device: Int) -> [Action] {
        guard !hasCrowd else { return [] }
        hasCrowd = true
        return [.crowd(device, job: anyJob(), count: generator.pick([30, 300]))]
    }

    /// Once a run: a laptop is off while the others work and sleep for a month.
    private mutating func month(_ device: Int) -> [Action] {
        if let away, hasSlept {
            self.away = nil
            return [.comeBack(away)]
        }
        if away != nil {
            hasSlept = true
            return [.everybodySleeps(milliseconds: 30 * 86_400_000)]
        }
        guard !hasSlept else { return [] }
        away = device
        return [.leave(device)]
    }
}

extension SeededGenerator {
    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &self)]
    }
}
