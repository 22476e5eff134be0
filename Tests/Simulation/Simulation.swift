/// One run: a plan carried out, then agreement.
package enum Simulation {
    package struct Outcome: Sendable {
        package let plan: Plan
        package let counters: Counters
        package let trace: UInt64
        /// What was broken, if anything.
        package let violation: Violation?
    }

    package static func plan(seed: UInt64, hasGateways: Bool? = nil) -> Plan {
        Planner.plan(seed: seed, hasGateways: hasGateways)
    }

    /// - Parameter hasGateways: whether the laptops bring the office what there is; nil lets the seed decide.
    package static func run(seed: UInt64, hasGateways: Bool? = nil) async throws -> Outcome {
        try await run(plan(seed: seed, hasGateways: hasGateways))
    }

    /// - Throws: what no rule speaks of, as a failure of the store that the run did not cause.
    package static func run(_ plan: Plan, narrate: ((String) -> Void)? = nil) async throws -> Outcome {
        let world = try World(plan)
        world.narrate = narrate
        var violation: Violation?
        do {
            for device in world.devices.prefix(plan.profile.presentAtStart) { try await world.join(device) }
            for step in plan.steps {
                try await world.run(until: world.now + Int64(step.wait) * 1_000)
                try await world.take(step)
            }
            try await world.heal()
            try await world.checkAgreement()
            try await world.checkOffice()
            try await world.tidyUp()
            world.expectChecks()
            try world.checker.checkThatChecked()
        } catch let broken as Violation {
            violation = broken
        } catch {
            violation = Violation("failure", "\(String(reflecting: error))")
        }
        for (check, times) in world.checker.checked { world.counters.count(check, times) }
        world.counters.count(.takenForBeginning, world.checker.freedUnlisted)
        return Outcome(plan: plan, counters: world.counters, trace: world.trace, violation: violation)
    }
}
