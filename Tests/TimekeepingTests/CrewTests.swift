import Testing
import Timekeeping

@Suite("Laptops that tell each other the time")
struct CrewTests {
    @Test("The server's time comes along a chain of laptops, a little less certain at each")
    func chain() {
        var anna = Laptop("anna", wallError: -hour)
        var bert = Laptop("bert", wallError: 3 * hour, partsPerMillion: 150)
        var cleo = Laptop("cleo", wallError: -48 * hour, partsPerMillion: -150)
        var dora = Laptop("dora", wallError: 5 * minute)
        for time in times(from: 0, to: 10 * minute, every: 15 * second) {
            if time % (60 * second) == 0 { anna.askServer(time) }
            bert.ask(anna, time + second, there: 200, back: 2_000)
            cleo.ask(bert, time + 2 * second, there: 2_000, back: 200)
            dora.ask(cleo, time + 3 * second)
        }
        let end = 10 * minute
        let crew = [anna, bert, cleo, dora]
        #expect(crew.map { $0.clock.quality(at: 0).stratum } == [1, 2, 3, 4])
        for member in crew {
            #expect(abs(member.error(end)) <= member.uncertainty(end), "\(member.name)")
            #expect(abs(member.error(end)) < 20_000, "\(member.name)")
            #expect(member.steps.count == 1, "\(member.name)")
        }
    }

    @Test("A laptop with a server behind it does not follow one without, however far ahead")
    func serverBeatsTheOneAhead() {
        var anna = Laptop("anna")
        anna.askServer(0)
        anna.ask(Laptop("bert", wallError: hour), second)
        #expect(abs(anna.error(second)) <= 2 && anna.clock.isSynchronised)
    }

    @Test("Of two without a server the one that is ahead leads")
    func aheadLeads() {
        var anna = Laptop("anna")
        var bert = Laptop("bert", wallError: 3 * hour)
        let early = bert.ask(anna, 0)
        #expect(!early, "anna has yet to follow")
        #expect(bert.steps.isEmpty && bert.error(0) == 3 * hour)
        let followed = anna.ask(bert, second)
        #expect(followed)
        #expect(!anna.clock.isSynchronised && anna.clock.quality(at: 0).stratum == 15)
        #expect(bert.clock.quality(at: 0).stratum == 16)
        let settled = bert.ask(anna, 2 * second)
        #expect(settled)
        #expect(bert.clock.quality(at: 0).stratum == 15 && bert.steps.isEmpty)
        #expect((3 * hour - 2_000...3 * hour).contains(anna.error(2 * second)))
        #expect(anna.steps.count == 1 && abs(anna.steps[0] - 10_800_000) <= 2)
        // Both learn the true time in the end: the way back is a step, too.
        bert.askServer(minute)
        anna.ask(bert, minute + second)
        #expect(anna.clock.isSynchronised && abs(anna.error(2 * minute)) < 20_000)
        #expect(anna.steps.count == 2)
    }

    @Test("Who comes alone joins those who have agreed, also backwards, and they do not move")
    func joiningTheOthers() {
        var anna = Laptop("anna")
        var bert = Laptop("bert", wallError: -hour)
        var cleo = Laptop("cleo", wallError: 3 * hour)
        let met = [bert.ask(anna, 0), anna.ask(bert, second)]
        #expect(met == [true, true])
        let joined = [anna.ask(cleo, 2 * second), cleo.ask(anna, 3 * second)]
        #expect(joined == [false, true] && anna.steps.isEmpty)
        #expect(cleo.steps.count == 1 && abs(cleo.steps[0] + 10_800_000) <= 2)
        let all = [anna.ask(cleo, 4 * second), bert.ask(cleo, 5 * second), cleo.ask(bert, 6 * second)]
        #expect(all == [true, true, true])
        // Restarted, it still belongs to them.
        let later = 90 * minute + 10 * second
        cleo = Laptop("cleo", wallError: -48 * hour, elapsedStart: later, remembered: cleo.record)
        #expect(cleo.clock.quality(at: 0).stratum == 15 && abs(cleo.error(0) - 10 * second) < 10_000)
    }

    @Test("Of two crews that have agreed on different times the one behind follows")
    func twoCrews() {
        var (anna, bert) = (Laptop("anna"), Laptop("bert"))
        var (cleo, dora) = (Laptop("cleo", wallError: hour), Laptop("dora", wallError: hour))
        for settled in [anna.ask(bert, 0), bert.ask(anna, second), cleo.ask(dora, 0), dora.ask(cleo, second)] {
            #expect(settled)
        }
        let met = [cleo.ask(anna, 2 * second), anna.ask(cleo, 3 * second), bert.ask(anna, 4 * second)]
        #expect(met == [false, true, true] && cleo.steps.isEmpty)
        #expect(abs(bert.error(5 * second) - hour) < 10_000)
    }

    @Test("A little ahead is not followed: clocks that agree are left alone")
    func smallLead() {
        var anna = Laptop("anna")
        anna.ask(Laptop("bert", wallError: 15_000), 0)
        #expect(anna.steps.isEmpty)
        anna.ask(Laptop("bert", wallError: 2 * second), second, there: 0, back: 5 * second)
        #expect(anna.steps.isEmpty, "it may be the delay")
    }

    @Test("Three laptops without a server never push one another on", arguments: UInt64(1)...30)
    func nobodyFollowsItself(seed: UInt64) {
        var random = SplitMix64(state: seed)
        var crew = ["a", "b", "c"].map {
            Laptop(
                $0, wallError: .random(in: -5 * hour...5 * hour, using: &random),
                partsPerMillion: .random(in: -100...100, using: &random))
        }
        let lead = crew.map(\.wallError).max() ?? 0
        var time: Int64 = 0
        for _ in 0..<2_000 {
            exchange(&crew, time, using: &random)
            time += .random(in: second...20 * second, using: &random)
            // Nobody's clock has gained more than the quickest of them has by itself.
            for member in crew { #expect(member.error(time) <= lead + time / 10_000 + 10, "seed \(seed)") }
        }
        let errors = crew.map { $0.error(time) }
        #expect((errors.max() ?? 0) - (errors.min() ?? 0) < 2 * second, "they agree")
        for member in crew { #expect(member.directives.count < 2_000, "seed \(seed): a write per exchange") }
    }

    @Test("Three that lost their server keep to what they know, and claim no more than that", arguments: UInt64(1)...30)
    func nobodyBecomesCertain(seed: UInt64) {
        var random = SplitMix64(state: seed)
        var crew = ["a", "b", "c"].map {
            Laptop(
                $0, wallError: .random(in: -5 * hour...5 * hour, using: &random),
                partsPerMillion: .random(in: -190...190, using: &random))
        }
        crew[0].askServer(0, there: 20_000, back: 1_000)
        var time = second
        for _ in 0..<1_500 {
            exchange(&crew, time, using: &random)
            time += .random(in: second...20 * second, using: &random)
            for member in crew where member.clock.isSynchronised {
                #expect(abs(member.error(time)) <= member.uncertainty(time), "seed \(seed)")
                // Nothing that goes round makes anybody more certain than the server's answer was, with its age.
                #expect(member.uncertainty(time) >= 10_000 + time * 190 / 1_000_000, "seed \(seed)")
            }
        }
        #expect(crew.allSatisfy { $0.clock.isSynchronised })
        #expect(crew.allSatisfy { $0.directives.count < 400 })
    }

    private func exchange(_ crew: inout [Laptop], _ time: Int64, using random: inout SplitMix64) {
        let asker = Int.random(in: 0..<crew.count, using: &random)
        let other = (asker + Int.random(in: 1..<crew.count, using: &random)) % crew.count
        crew[asker].ask(
            crew[other], time, there: .random(in: 100...200_000, using: &random),
            back: .random(in: 100...200_000, using: &random))
    }
}
