import Testing
import Transport

@Suite("What of repeated events is logged")
struct RepeatedEventsTests {
    @Test("Of 26,000 connections in a few seconds two lines tell: the first at once, the others after a minute")
    func flood() {
        var events = RepeatedEvents<String>()
        var reports: [RepeatedEvents<String>.Report] = []
        for number in 0..<26_000 {
            if let report = events.note("refused", detail: "\(number)", now: UInt64(number) / 10) {
                reports.append(report)
            }
        }
        #expect(reports.map(\.count) == [1])
        #expect(reports.first?.detail == "0")
        #expect(events.nextDeadline == 60_000)
        #expect(events.removeDue(now: 59_999).isEmpty)
        let later = events.removeDue(now: 60_000)
        #expect(later.map(\.count) == [25_999])
        #expect(later.first?.detail == "25999")
    }

    @Test("Kinds are counted apart, and one that has been quiet for a minute is news again")
    func kinds() {
        var events = RepeatedEvents<String>()
        #expect(events.note("a", detail: "", now: 0) != nil)
        #expect(events.note("b", detail: "", now: 10) != nil)
        #expect(events.note("a", detail: "", now: 20) == nil)
        #expect(events.removeDue(now: 60_020).map(\.kind) == ["a"])
        #expect(events.nextDeadline == 120_020, "b was quiet")
        #expect(events.note("b", detail: "", now: 60_030) != nil)
        #expect(events.removeDue(now: 200_000).isEmpty)
        #expect(events.nextDeadline == nil, "nothing is waited for when nothing happens")
    }
}
