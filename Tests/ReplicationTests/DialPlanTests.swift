import CRDT
import Replication
import Testing

@Suite("Which addresses are dialled, and when")
struct DialPlanTests {
    private let anna = PeerAddress(host: "10.77.0.1", port: 7473)
    private let device = DeviceID(String(repeating: "a1", count: 32))

    @Test("An address is not dialled again while the connection with it waits for a hello")
    func waitsForTheHello() throws {
        let device = try #require(device)
        var plan = DialPlan()
        plan.onFound("anna", id: device.short, addresses: [anna], now: 0)
        #expect(plan.due(now: 0, connected: []) == [anna])
        // Discovery tells of it again, as it does when a second record has come.
        plan.onFound("anna", id: device.short, addresses: [anna], now: 1)
        #expect(plan.due(now: 1, connected: []).isEmpty)
        plan.onEstablished(anna, device: device, now: 0)
        #expect(plan.due(now: 2, connected: [device]).isEmpty)
        #expect(plan.due(now: 3, connected: []) == [anna], "the connection has ended")
    }

    @Test("An address that does not answer is tried again later, and at once when it is found anew")
    func triesAgain() throws {
        let device = try #require(device)
        var generator = SeededGenerator(seed: 1)
        var plan = DialPlan()
        plan.onFound("anna", id: device.short, addresses: [anna], now: 0)
        #expect(plan.due(now: 0, connected: []) == [anna])
        plan.onFailed(anna, now: 0, using: &generator)
        #expect(plan.due(now: 0, connected: []).isEmpty)
        #expect(try #require(plan.nextDeadline(connected: [])) <= 500)
        plan.onFound("anna", id: device.short, addresses: [anna], now: 10)
        #expect(plan.due(now: 10, connected: []) == [anna])
    }

    @Test("What is taken back is dialled no more, unless discovery knows it; why it failed is told until it stands")
    func takenBack() throws {
        let device = try #require(device)
        var generator = SeededGenerator(seed: 1)
        var plan = DialPlan()
        plan.onConfigured(anna, now: 0)
        #expect(plan.due(now: 0, connected: []) == [anna])
        plan.onFailed(anna, because: "Connection refused.", now: 0, using: &generator)
        #expect(plan.targets[anna]?.lastReason == "Connection refused.")
        plan.onFound("anna", id: device.short, addresses: [anna], now: 10)
        plan.onForgotten(anna)
        #expect(plan.targets[anna]?.origin == .discovery && plan.due(now: 10, connected: []) == [anna])
        plan.onEstablished(anna, device: device, now: 11)
        #expect(plan.targets[anna]?.lastReason == nil)
        plan.onConfigured(anna, now: 12)
        _ = plan.onLost("anna")
        plan.onForgotten(anna)
        #expect(plan.targets.isEmpty && plan.nextDeadline(connected: []) == nil)
    }

    @Test("Somebody who names an address that is being dialled begins no second connection, and loses no announcement")
    func namedWhileDialled() throws {
        let device = try #require(device)
        var plan = DialPlan()
        plan.onFound("anna", id: device.short, addresses: [anna], now: 0)
        #expect(plan.due(now: 0, connected: []) == [anna])
        plan.onConfigured(anna, now: 1)
        #expect(plan.due(now: 1, connected: []).isEmpty)
        #expect(plan.onLost("anna") == [device.short])
        plan.onEstablished(anna, device: device, now: 2)
        #expect(plan.due(now: 3, connected: []) == [anna], "the connection has ended, and a person wants it")
    }
}
