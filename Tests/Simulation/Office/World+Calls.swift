import CRDT
import Outbox
import Storage

/// The way to the office and back: what is asked comes late, twice or not at all, and so do the answers.
extension World {
    /// Without gateways the way is a good one, as the laptops only read.
    private var isWayGood: Bool { isCalm || !plan.profile.faults.contains(.gateway) }

    func ask(_ request: OfficeCall.Request, about job: JobID, for purpose: OfficeCall.Purpose, by device: Device) {
        let call = OfficeCall(
            device: device.index, incarnation: device.incarnation, job: job, request: request, purpose: purpose,
            life: office.life)
        guard device.reachesServer else { return answer(call, .unreachable, after: 50_000) }
        if !isWayGood, office.generator.oneIn(25) {
            counters.count(.requestLost)
            return answer(call, .lost, after: 4_000_000)
        }
        let there = Int64.random(in: 1_000...wayMicroseconds, using: &office.generator)
        events.add(.office(.call(call)), at: now + there, device: 0, incarnation: 0)
        guard !isWayGood, office.generator.oneIn(12) else { return }
        var echo = call
        echo.isEcho = true
        let later = Int64.random(in: 1_000...30_000_000, using: &office.generator)
        events.add(.office(.call(echo)), at: now + later, device: 0, incarnation: 0)
    }

    private var wayMicroseconds: Int64 { isWayGood ? 80_000 : 1_500_000 }

    func take(_ event: OfficeEvent) async throws {
        switch event {
        case .call(let call): try await arrived(call)
        case .accept(let job): try await acknowledge(job)
        case .free: try await freeAtOffice()
        case .start: try await startOffice()
        case .lookWhetherRecovered: try await lookWhetherRecovered()
        }
    }

    private func arrived(_ call: OfficeCall) async throws {
        guard office.isUp, call.life == office.life else { return answer(call, .unreachable, after: 20_000) }
        if now < office.illUntil {
            counters.count(.serverBusy)
            let wish: UInt64? = office.generator.oneIn(2) ? nil : UInt64((office.illUntil - now) / 1_000)
            return answer(call, .busy(milliseconds: wish), after: 20_000)
        }
        if call.isEcho { counters.count(.echo) }
        let answer = try await self.answer(to: call)
        if !isWayGood, office.generator.oneIn(15) {
            counters.count(.answerLost)
            return self.answer(call, .lost, after: office.generator.oneIn(3) ? 70_000_000 : 3_000_000)
        }
        let back = Int64.random(in: 1_000...wayMicroseconds, using: &office.generator)
        self.answer(call, answer, after: back)
    }

    private func answer(_ call: OfficeCall, _ answer: OfficeAnswer, after microseconds: Int64) {
        guard !call.isEcho else { return }
        events.add(
            .officeAnswer(call.purpose, call.job, answer, life: call.life), at: now + microseconds, device: call.device,
            incarnation: call.incarnation)
    }

    func answered(
        _ purpose: OfficeCall.Purpose, _ job: JobID, _ answer: OfficeAnswer, life: Int, to device: Device
    ) async throws {
        let answer = life == office.life ? answer : .lost
        switch purpose {
        case .round(let number): try await answered(answer, inRound: number, by: device)
        case .delivery(let exchange): try await delivered(in: exchange, answer, by: device)
        }
    }
}
