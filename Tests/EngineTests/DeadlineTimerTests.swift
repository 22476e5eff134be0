import Simulation
import Testing

@testable import Engine

/// One timer for whatever somebody waits for next.
struct DeadlineTimerTests {
    private let machine = StillMachine(seed: 1, at: 1_785_580_200_125)
    private let now: UInt64

    init() { now = machine.elapsedMilliseconds }

    @Test("A later deadline leaves the timer as it is, an earlier one does not, and none ends it")
    func moved() {
        var timer = DeadlineTimer()
        timer.set(now + 100, on: machine) {}
        timer.set(now + 200, on: machine) {}
        #expect(timer.deadline == now + 100)
        timer.set(now + 50, on: machine) {}
        #expect(timer.deadline == now + 50)
        timer.set(nil, on: machine) {}
        #expect(timer.deadline == nil)
    }

    @Test("A timer that has slept with the laptop beyond its time is not waited for")
    func overslept() {
        var timer = DeadlineTimer()
        timer.set(now + 100, on: machine) {}
        machine.pass(milliseconds: 150)
        timer.set(now + 200, on: machine) {}
        #expect(timer.deadline == now + 200)
    }
}
