import CRDT
import Testing
import Timekeeping

/// Crews of any clocks, met in any order, with any of them having shown work before.
@Suite("Any crew without a server")
struct AgreementTests {
    private static let day = 24 * hour

    /// Wrong by seconds, hours, a day or years; every eighth began in 1970.
    private static func wallError(using random: inout SeededGenerator) -> Int64 {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: -trueStart + .random(in: 0...hour, using: &random)
        case 1: .random(in: -100 * day...3_650 * day, using: &random)
        case 2, 3: .random(in: -2 * day...2 * day, using: &random)
        default: .random(in: -minute...minute, using: &random)
        }
    }

    private static func crew(using random: inout SeededGenerator) -> [Laptop] {
        (0..<Int.random(in: 2...9, using: &random)).map { index in
            Laptop(
                "\(index)", wallError: wallError(using: &random),
                partsPerMillion: .random(in: -100...100, using: &random),
                elapsedStart: .random(in: second...90 * minute, using: &random))
        }
    }

    /// Each asks each, in a random order.
    private static func meet(_ crew: inout [Laptop], _ time: inout Int64, using random: inout SeededGenerator) {
        var pairs = crew.indices.flatMap { asker in
            crew.indices.filter { $0 != asker }.map { (asker, $0) }
        }
        pairs.shuffle(using: &random)
        for (asker, other) in pairs {
            crew[asker].ask(
                crew[other], time, there: .random(in: 100...3_000, using: &random),
                back: .random(in: 100...3_000, using: &random))
            time += .random(in: 10_000...second, using: &random)
        }
    }

    private static func spread(_ crew: [Laptop], _ time: Int64) -> Int64 {
        let errors = crew.map { $0.error(time) }
        return (errors.max() ?? 0) - (errors.min() ?? 0)
    }

    @Test(
        "Those who have shown nothing agree within two rounds on the earliest that may be right",
        arguments: UInt64(1)...300)
    func nothingShown(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var crew = Self.crew(using: &random)
        let plausible = crew.filter { $0.clock.quality(at: 0).isPlausible }.map(\.wallError)
        var time: Int64 = 0
        for _ in 0..<2 { Self.meet(&crew, &time, using: &random) }
        let agreed = crew.map { $0.error(time) }
        #expect(Self.spread(crew, time) < 100_000, "seed \(seed): \(agreed)")
        guard let earliest = plausible.min() else {
            // None can be right: they are not before the floor, and nothing pulls them on.
            for error in agreed { #expect(error >= CorrectedClock.programFloor - trueStart - time, "seed \(seed)") }
            for error in agreed { #expect(error <= CorrectedClock.programFloor - trueStart + 100_000, "seed \(seed)") }
            return
        }
        for error in agreed { #expect(abs(error - earliest) < time / 10_000 + 100_000, "seed \(seed): \(agreed)") }
        #expect(!crew.contains { $0.isShown })
        // Nobody goes on stepping.
        let steps = crew.map(\.steps.count)
        Self.meet(&crew, &time, using: &random)
        #expect(crew.map(\.steps.count) == steps, "seed \(seed)")
    }

    @Test("A time that was shown never goes back, and no clock passes the furthest", arguments: UInt64(1)...300)
    func shownAtAnyMoment(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var crew = Self.crew(using: &random)
        let furthest = crew.map { $0.error(0) }.max() ?? 0
        var time: Int64 = 0
        for _ in 0..<crew.count * 20 {
            if Int.random(in: 0..<10, using: &random) == 0 {
                crew[Int.random(in: 0..<crew.count, using: &random)].show()
            }
            let asker = Int.random(in: 0..<crew.count, using: &random)
            let other = (asker + Int.random(in: 1..<crew.count, using: &random)) % crew.count
            let (wasShown, steps) = (crew[asker].isShown, crew[asker].steps.count)
            crew[asker].ask(crew[other], time)
            #expect(crew[asker].isShown || !wasShown)
            if wasShown { for step in crew[asker].steps.dropFirst(steps) { #expect(step > 0, "seed \(seed)") } }
            #expect(crew[asker].error(time) <= furthest + time / 10_000 + 1_000, "seed \(seed)")
            time += second
        }
        // Then all meet all: every two have one time, or each has shown its own and they are further apart than clocks err.
        for index in crew.indices where !crew[index].isShown && crew.contains(where: \.isShown) {
            crew[index].show()
        }
        for _ in 0..<12 { Self.meet(&crew, &time, using: &random) }
        let times = crew.map { $0.error(time) }.sorted()
        for (early, late) in zip(times, times.dropFirst()) {
            #expect(late - early < 100_000 || late - early > 5 * minute - second, "seed \(seed): \(times)")
        }
        // From now on they only follow how their clocks drift apart.
        let steps = crew.map(\.steps.count)
        Self.meet(&crew, &time, using: &random)
        for (member, count) in zip(crew, steps) {
            for step in member.steps.dropFirst(count) { #expect((1...100).contains(step), "seed \(seed): \(step)") }
        }
    }

    @Test(
        "Both ends see alike who follows, and exactly one does unless both have shown work", arguments: UInt64(1)...300)
    func symmetric(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var pair = Array((Self.crew(using: &random) + Self.crew(using: &random)).prefix(2))
        for index in pair.indices where Bool.random(using: &random) { pair[index].show() }
        let before = pair
        let isApart = Self.spread(pair, 0) > 100_000
        pair[0].ask(before[1], 0)
        pair[1].ask(before[0], 0)
        let moved = pair.filter { !$0.steps.isEmpty }.count
        let areShown = before.allSatisfy(\.isShown)
        if isApart { #expect(moved == 1 || moved == 0 && areShown, "seed \(seed)") } else { #expect(moved <= 1) }
        // Then it is settled for both.
        let settled = [pair[0].ask(pair[1], second), pair[1].ask(pair[0], 2 * second)]
        #expect(settled == [true, true], "seed \(seed)")
    }

    @Test(
        "A server behind one of them is followed by all, and nobody without moves who has it",
        arguments: UInt64(1)...100)
    func server(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var crew = Self.crew(using: &random)
        var time: Int64 = 0
        Self.meet(&crew, &time, using: &random)
        for index in crew.indices where Bool.random(using: &random) { crew[index].show() }
        crew[0].askServer(time)
        for _ in 0..<3 {
            Self.meet(&crew, &time, using: &random)
            #expect(abs(crew[0].error(time)) <= crew[0].uncertainty(time), "seed \(seed)")
        }
        for member in crew {
            #expect(member.clock.isSynchronised && abs(member.error(time)) <= member.uncertainty(time), "seed \(seed)")
            #expect(abs(member.error(time)) < 100_000, "seed \(seed)")
        }
    }
}
