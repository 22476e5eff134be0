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
        default: break
        }
        return plan
    }

    /// As the last thing, a laptop that is set back writes exactly as much as was lost: both journals have one length, and
    /// nothing that is written afterwards shows that they are two.
    private mutating func addTwins(to plan: inout Plan) {
        let device = Int.random(in: 0..<plan.profile.presentAtStart, using: &generator)
        let others = plan.profile.clocks.indices.filter { $0 != device }
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
        plan.steps += others.enumerated().map { index, other in
            let wait: UInt64 = index == 0 ? 45_000 : 0
            return Step(wait: wait, action: .cut(device, other, isOneWay: false, breaks: true))
        }
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
}
