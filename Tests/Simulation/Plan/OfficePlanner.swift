import CRDT

/// Adds the office's part to a plan: laptops that bring it what there is, people who ask it for things, and its own
/// accidents. It draws from a generator of its own, so that a seed means the same history without an office as with one.
struct OfficePlanner {
    private var generator: SeededGenerator
    let wantsGateways: Bool

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed ^ 0x0ff1_ce11)
        wantsGateways = generator.oneIn(3)
    }

    mutating func adding(to plan: Plan) -> Plan {
        var plan = plan
        plan.profile.faults.insert(.gateway)
        for fault in [Fault.officeCrash, .officeSetBack, .officeIllness, .dropped, .signOff] where generator.oneIn(2) {
            plan.profile.faults.insert(fault)
        }
        // Somebody has to reach it.
        plan.profile.clocks[Int.random(in: 0..<plan.profile.presentAtStart, using: &generator)].reachesServer = true
        let asks = Int.random(in: 3...14, using: &generator)
        for _ in 0..<asks {
            let device = Int.random(in: 0..<plan.devices, using: &generator)
            insert(.ask(device, job: anyJob(of: plan)), into: &plan)
        }
        if has(.signOff, plan) { addSignOff(to: &plan) }
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            let device = Int.random(in: 0..<plan.devices, using: &generator)
            insert(.reachServer(device, generator.oneIn(2)), into: &plan)
        }
        if has(.dropped, plan) {
            for _ in 0..<3 { insert(.drop(Int.random(in: 0..<plan.devices, using: &generator)), into: &plan) }
        }
        if has(.officeCrash, plan) { for _ in 0..<2 { insert(.office(.stop), into: &plan) } }
        if has(.officeIllness, plan) { insert(.office(.fallIll), into: &plan) }
        if has(.fullDisk, plan) {
            let place = insert(.office(.fillDisk), into: &plan)
            insert(.office(.freeDisk), into: &plan, after: place)
        }
        if has(.officeSetBack, plan) {
            let place = insert(.office(.backUp), into: &plan)
            let isUnawares = generator.oneIn(3)
            insert(.office(isUnawares ? .setBackUnawares : .setBack), into: &plan, after: place)
        }
        // Not drawn, so that the seeds found before this part was written mean what they meant.
        if has(.restore, plan), plan.seed % 4 == 1 { addForkAtOffice(to: &plan) }
        return plan
    }

    /// A laptop that is set back and meets nobody but the office, which holds more of its journal than it does.
    private mutating func addForkAtOffice(to plan: inout Plan) {
        let reaching = plan.profile.clocks.indices.filter {
            plan.profile.clocks[$0].reachesServer && $0 < plan.profile.presentAtStart
        }
        guard let device = reaching.randomElement(using: &generator) else { return }
        let others = plan.profile.clocks.indices.filter { $0 != device }
        // Numbers that nobody else has; which branch is longer, and which stays, is left to chance.
        func edit(_ first: Int, _ count: Int) -> Action {
            .edit(device, (0..<count).map { PlannedEdit(item: $0, number: first + $0, kind: .set(fields: [1])) })
        }
        let before = Int.random(in: 1...4, using: &generator)
        let after = Int.random(in: 1...4, using: &generator)
        var steps = [
            Step(wait: 0, action: .reachServer(device, true)), Step(wait: 0, action: .start(device, reboots: false)),
            Step(wait: 0, action: .backUp(device)), Step(wait: 100, action: edit(100_000, before)),
        ]
        steps += plan.cutsOff(device)
        steps.append(Step(wait: 45_000, action: .restore(device, isNewFile: false)))
        steps.append(Step(wait: 0, action: edit(200_000, after)))
        steps += others.enumerated().map { index, other in
            Step(wait: index == 0 ? 60_000 : 0, action: .heal(device, other))
        }
        let place = Int.random(in: 0...plan.steps.count, using: &generator)
        plan.steps.insert(contentsOf: steps, at: place)
    }

    private mutating func anyJob(of plan: Plan) -> Int {
        plan.profile.jobs == 1 ? 0 : Int.random(in: 0..<plan.profile.jobs, using: &generator)
    }

    /// A job comes to where a customer signs, and one signs there; others sign when they like.
    private mutating func addSignOff(to plan: inout Plan) {
        let device = Int.random(in: 0..<plan.profile.presentAtStart, using: &generator)
        let job = anyJob(of: plan)
        let place = Int.random(in: 0...plan.steps.count, using: &generator)
        let asks = Array(repeating: Step(wait: 100, action: .ask(device, job: job)), count: 4)
        let isForgery = generator.oneIn(3)
        let signature = Step(wait: 200, action: .signOff(device, job: job, isForgery: isForgery))
        plan.steps.insert(contentsOf: asks + [signature], at: place)
        for _ in 0..<3 {
            let other = Int.random(in: 0..<plan.devices, using: &generator)
            insert(.signOff(other, job: anyJob(of: plan), isForgery: generator.oneIn(4)), into: &plan)
        }
    }

    private func has(_ fault: Fault, _ plan: Plan) -> Bool { plan.profile.faults.contains(fault) }

    /// - Returns: where.
    @discardableResult
    private mutating func insert(_ action: Action, into plan: inout Plan, after start: Int = -1) -> Int {
        let place = Int.random(in: start + 1...plan.steps.count, using: &generator)
        plan.steps.insert(Step(wait: 0, action: action), at: place)
        // What follows each other at once meets only by chance: time passes now and then.
        if generator.oneIn(2) { plan.steps[place].wait = UInt64.random(in: 1...8_000, using: &generator) }
        return place
    }
}
