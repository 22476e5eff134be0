import Testing

@testable import ChannelServer

@Suite("When uploads are acknowledged in the channel")
struct AcknowledgementPlanTests {
    /// When a plan acknowledges, and which uploads are without an acknowledgement in the end.
    private func acknowledgements(of uploads: [UInt64]) -> (times: [UInt64], pending: Bool) {
        var plan = AcknowledgementPlan()
        var times: [UInt64] = []
        var wake: UInt64?
        var left = uploads[...]
        for now in UInt64(0)...200_000 {
            while left.first == now {
                left.removeFirst()
                plan.onUpload(now: now)
                wake = wake ?? now
            }
            while let at = wake, at <= now {
                switch plan.onTimer(now: now) {
                case .acknowledge: times.append(now)
                case .wait(let until):
                    #expect(until > now, "the timer is busy")
                    wake = until
                case .forget:
                    plan = AcknowledgementPlan()
                    wake = nil
                }
            }
        }
        return (times, plan.due != nil || wake != nil)
    }

    @Test("A single upload is acknowledged half a second later, and so is the next one after a quiet time")
    func single() {
        let (times, isPending) = acknowledgements(of: [1_000, 60_000])
        #expect(times == [1_500, 60_500] && !isPending)
    }

    @Test("An upload a second for half a minute makes four entries, the last of which comes after the last upload")
    func steady() {
        let uploads = (0..<30).map { UInt64($0) * 1_000 + 100 }
        let (times, isPending) = acknowledgements(of: uploads)
        #expect(times == [600, 10_600, 20_600, 30_600] && !isPending)
    }

    @Test("However uploads come, none waits for longer than an interval and entries keep their distance")
    func everyUpload() {
        for step in stride(from: UInt64(1), through: 23_000, by: 977) {
            let uploads = (0..<40).map { UInt64($0) * step % 90_000 }.sorted()
            let (times, isPending) = acknowledgements(of: uploads)
            #expect(!isPending)
            for upload in uploads {
                let next = times.first { $0 > upload }
                #expect((next ?? .max) - upload <= AcknowledgementPlan.intervalMilliseconds, "\(step)")
            }
            for (earlier, later) in zip(times, times.dropFirst()) {
                #expect(later - earlier >= AcknowledgementPlan.intervalMilliseconds, "\(step)")
            }
        }
    }
}
