import CRDT
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

    @Test("Of two that have shown nothing the earlier leads, and neither is bound by it")
    func earlierLeads() {
        var anna = Laptop("anna", wallError: 24 * hour)
        var bert = Laptop("bert")
        let early = bert.ask(anna, 0)
        #expect(!early, "anna has yet to follow")
        #expect(bert.steps.isEmpty)
        let settled = [anna.ask(bert, second), bert.ask(anna, 2 * second)]
        #expect(settled == [true, true])
        #expect(abs(anna.error(2 * second)) < 2_000 && bert.steps.isEmpty)
        #expect(anna.steps.count == 1 && abs(anna.steps[0] + 86_400_000) <= 2)
        #expect(!anna.isShown && !bert.isShown)
        // A still earlier one leads both, as long as they have shown nothing.
        var cleo = Laptop("cleo", wallError: -hour)
        for time in [3, 4] as [Int64] {
            anna.ask(cleo, time * second)
            bert.ask(anna, time * second)
            cleo.ask(bert, time * second)
        }
        for member in [anna, bert, cleo] { #expect(abs(member.error(5 * second) + hour) < 10_000, "\(member.name)") }
        // All learn the true time in the end.
        bert.askServer(minute)
        anna.ask(bert, minute + second)
        #expect(anna.clock.isSynchronised && abs(anna.error(2 * minute)) < 20_000)
        #expect(anna.steps.count == 3)
    }

    @Test("Who has shown nothing joins one who has, forward or back, and is bound from then on", arguments: [-3, 24])
    func joiningTheOthers(hours: Int64) {
        var anna = Laptop("anna")
        var bert = Laptop("bert", wallError: hours * hour)
        anna.show()
        let met = [anna.ask(bert, 0), bert.ask(anna, second), anna.ask(bert, 2 * second)]
        #expect(met == [false, true, true] && anna.steps.isEmpty)
        #expect(bert.steps.count == 1 && abs(bert.steps[0] + hours * 3_600_000) <= 2)
        #expect(anna.isShown && bert.isShown)
        // Restarted, it still belongs to them.
        let later = 90 * minute + 10 * second
        bert = Laptop("bert", wallError: -48 * hour, elapsedStart: later, remembered: bert.record)
        #expect(bert.isShown && abs(bert.error(0) - 10 * second) < 10_000)
        // After another boot it has shown nothing under its new time.
        let next = Laptop("bert", elapsedStart: second, boot: "next", remembered: bert.record)
        #expect(!next.isShown)
    }

    @Test("Of two times that were shown the one behind moves on by a clock's error, and by no more")
    func shownTimes() {
        for lead in [4 * minute, 6 * minute, 24 * hour] {
            var (anna, bert) = (Laptop("anna"), Laptop("bert", wallError: lead))
            anna.show()
            bert.show()
            let isNear = lead < 5 * minute
            let settled = [bert.ask(anna, 0), anna.ask(bert, second), bert.ask(anna, 2 * second)]
            #expect(settled == [!isNear, true, true], "nobody waits for what does not come")
            #expect(bert.steps.isEmpty)
            #expect(abs(anna.error(3 * second) - (isNear ? lead : 0)) < 10_000)
        }
    }

    @Test("A laptop a day ahead that has shown its work takes no honest crew along")
    func oneFastLaptop() {
        var crew = [Laptop("anna"), Laptop("bert"), Laptop("cleo", wallError: 24 * hour)]
        crew[0].ask(crew[1], 0)
        for index in crew.indices { crew[index].show() }
        var dora = Laptop("dora", wallError: 2 * hour)
        for time in 2...20 as ClosedRange<Int64> {
            for asker in crew.indices { crew[asker].ask(crew[(asker + 1) % 3], time * second) }
            dora.ask(crew[0], time * second)
        }
        #expect(crew.allSatisfy { $0.steps.isEmpty })
        #expect(abs(dora.error(minute)) < 10_000, "who comes later joins whom it meets first")
    }

    @Test("A little ahead is not followed: clocks that agree are left alone")
    func smallLead() {
        var anna = Laptop("anna")
        anna.ask(Laptop("bert", wallError: 15_000), 0)
        #expect(anna.steps.isEmpty)
        anna.ask(Laptop("bert", wallError: 2 * second), second, there: 0, back: 5 * second)
        #expect(anna.steps.isEmpty, "it may be the delay")
    }

    @Test(
        "Three laptops without a server never push one another on, nor back", arguments: UInt64(1)...30, [false, true])
    func nobodyFollowsItself(seed: UInt64, haveShown: Bool) {
        var random = SeededGenerator(seed: seed)
        var crew = ["a", "b", "c"].map {
            Laptop(
                $0, wallError: .random(in: -2 * minute...2 * minute, using: &random),
                partsPerMillion: .random(in: -100...100, using: &random))
        }
        if haveShown { for index in crew.indices { crew[index].show() } }
        let errors = crew.map(\.wallError)
        let (first, last) = (errors.min() ?? 0, errors.max() ?? 0)
        var time: Int64 = 0
        for _ in 0..<2_000 {
            exchange(&crew, time, using: &random)
            time += .random(in: second...20 * second, using: &random)
            // Nobody's clock has gained, or lost, more than the quickest or the slowest of them has by itself.
            for member in crew {
                #expect(member.error(time) <= last + time / 10_000 + 10, "seed \(seed)")
                #expect(member.error(time) >= first - time / 10_000 - 10, "seed \(seed)")
            }
        }
        let agreed = crew.map { $0.error(time) }
        #expect((agreed.max() ?? 0) - (agreed.min() ?? 0) < 2 * second, "they agree")
        #expect(abs(agreed[0] - (haveShown ? last : first)) < time / 10_000 + 2 * second)
        for member in crew {
            #expect(member.records.count + member.steps.count < 2_000, "seed \(seed): a write per exchange")
        }
    }

    @Test("Three that lost their server keep to what they know, and claim no more than that", arguments: UInt64(1)...30)
    func nobodyBecomesCertain(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
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
        #expect(crew.allSatisfy { $0.records.count + $0.steps.count < 400 })
    }

    private func exchange(_ crew: inout [Laptop], _ time: Int64, using random: inout SeededGenerator) {
        let asker = Int.random(in: 0..<crew.count, using: &random)
        let other = (asker + Int.random(in: 1..<crew.count, using: &random)) % crew.count
        crew[asker].ask(
            crew[other], time, there: .random(in: 100...200_000, using: &random),
            back: .random(in: 100...200_000, using: &random))
    }
}
