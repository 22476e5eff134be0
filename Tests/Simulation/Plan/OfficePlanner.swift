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
        for fault in [Fault.officeCrash, .officeSetBack, .officeIllness, .dropped] where generator.oneIn(2) {
            plan.profile.faults.insert(fault)
        }
        // Somebody has to reach it.
        plan.profile.clocks[Int.random(in: 0..<plan.profile.presentAtStart, using: &generator)].reachesServer = true
        let asks = Int.random(in: 3...14, using: &generator)
        for _ in 0..<asks { insert(.ask(Int.random(in: 0..<plan.devices, using: &generator)), into: &plan) }
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
            insert(.office(.setBack), into: &plan, after: place)
        }
        return plan
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
