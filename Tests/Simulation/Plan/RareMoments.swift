import CRDT

/// Moments that chance brings about too seldom, added to some plans. They draw from a generator of their own, so that the
/// other plans mean what they meant before.
struct RareMoments {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed ^ 0x2a2e_0001)
    }

    mutating func adding(to plan: Plan) -> Plan {
        var plan = plan
        switch plan.seed % 8 {
        case 2 where plan.profile.faults.contains(.restore) && !plan.profile.faults.contains(.jobRemoval):
            addTwins(to: &plan)
        case 5 where !plan.profile.faults.contains(.crowd): addStrangersWithNews(to: &plan)
        case 3 where plan.profile.faults.contains(.gateway): addForkAfterRemoval(to: &plan)
        case 6 where !plan.profile.clocks.contains(where: \.reachesServer):
            addRescueWithoutTime(to: &plan)
        default: break
        }
        return plan
    }

    /// As the last thing, a laptop that is set back writes exactly as much as was lost: both journals have one length, and
    /// nothing that is written afterwards shows that they are two.
    private mutating func addTwins(to plan: inout Plan) {
        let device = Int.random(in: 0..<plan.profile.presentAtStart, using: &generator)
        let count = Int.random(in: 1...3, using: &generator)
        func edits(_ first: Int) -> Step {
            let edits = (first..<first + count).map {
                PlannedEdit(item: $0 - first, number: $0, kind: .set(fields: [1]))
            }
            return Step(wait: 100, action: .edit(device, edits))
        }
        plan.steps += [
            Step(wait: 0, action: .start(device, reboots: false)), Step(wait: 0, action: .freeDisk(device)),
            Step(wait: 0, action: .backUp(device)), edits(300_000),
        ]
        var cuts = plan.cutsOff(device)
        cuts[0].wait = 45_000
        plan.steps += cuts
        plan.steps += [Step(wait: 0, action: .restore(device, isNewFile: false)), edits(350_000)]
    }

    /// A laptop that has yet to hear what the office said gets journals of others who knew it, and writes.
    private mutating func addStrangersWithNews(to plan: inout Plan) {
        let device = Int.random(in: 0..<plan.profile.presentAtStart, using: &generator)
        let edit = PlannedEdit(item: 310_000, number: 310_000, kind: .set(fields: [1]))
        let actions: [Action] =
            [.start(device, reboots: false), .freeDisk(device)]
            + Array(repeating: .serverEntry, count: plan.profile.jobs)
            + [.crowd(device, job: 0, count: 2), .edit(device, [edit])]
        let place = Int.random(in: 0...plan.steps.count, using: &generator)
        plan.steps.insert(contentsOf: actions.map { Step(wait: 1, action: $0) }, at: place)
    }

    /// A laptop writes into a job that was removed meanwhile, brings the office that, is set back, and writes something else
    /// there: the office holds another branch of what is left of the journal.
    private mutating func addForkAfterRemoval(to plan: inout Plan) {
        guard plan.profile.presentAtStart > 1 else { return }
        let (device, remover) = (0, 1)
        let count = Int.random(in: 1...3, using: &generator)
        func edits(_ first: Int) -> Action {
            .edit(
                device, (0..<count).map { PlannedEdit(item: first + $0, number: first + $0, kind: .set(fields: [1])) })
        }
        var actions: [Action] = [device, remover].flatMap { [.start($0, reboots: false), .freeDisk($0)] }
        actions += [.office(.freeDisk), .heal(device, remover)]
        plan.steps += actions.map { Step(wait: 0, action: $0) }
        plan.steps.append(Step(wait: 100, action: edits(320_000)))
        plan.steps.append(Step(wait: 45_000, action: .reachServer(device, false)))
        plan.steps += plan.cutsOff(device)
        plan.steps += [
            Step(wait: 0, action: .reachServer(remover, true)), Step(wait: 0, action: .removeJob(remover, job: 0)),
            Step(wait: 45_000, action: .backUp(device)), Step(wait: 0, action: edits(330_000)),
            Step(wait: 0, action: .reachServer(device, true)), Step(wait: 45_000, action: .reachServer(device, false)),
            Step(wait: 0, action: .restore(device, isNewFile: false)), Step(wait: 0, action: edits(340_000)),
            Step(wait: 0, action: .reachServer(device, true)),
        ]
    }

    /// A laptop that does not know the time takes late work over while nobody is there to see it, and then learns the time.
    private mutating func addRescueWithoutTime(to plan: inout Plan) {
        guard plan.profile.presentAtStart > 1 else { return }
        let (author, remover) = (0, 1)
        func edit(_ number: Int) -> Action {
            .edit(author, [PlannedEdit(item: number, number: number, kind: .set(fields: [1]))])
        }
        var actions: [Action] = [author, remover].flatMap { [.start($0, reboots: false), .freeDisk($0)] }
        // Two hours late: the crew agrees on the earliest clock.
        actions += [
            .crash(remover), .setWallClock(remover, byMilliseconds: -7_200_000), .start(remover, reboots: true),
        ]
        actions += [.heal(author, remover), edit(320_000)]
        plan.steps += actions.map { Step(wait: 0, action: $0) }
        plan.steps.append(Step(wait: 10_000, action: .cut(author, remover, isOneWay: false, breaks: true)))
        plan.steps += plan.cutsOff(author)
        plan.steps.append(Step(wait: 0, action: .removeJob(remover, job: 0)))
        plan.steps += (1...4).map { Step(wait: 10, action: edit(320_000 + $0)) }
        plan.steps.append(Step(wait: 0, action: .heal(author, remover)))
        plan.steps.append(Step(wait: 20_000, action: .freeDisk(remover)))
        plan.steps += plan.cutsOff(remover)
        plan.steps.append(Step(wait: 5_000, action: .decideLate(remover, accepts: true)))
        plan.steps.append(Step(wait: 100, action: .reachServer(remover, true)))
    }
}
