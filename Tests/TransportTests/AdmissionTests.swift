import Replication
import Testing
import Transport

@Suite("Which connections there is room for")
struct AdmissionTests {
    private func link(_ number: Int) -> LinkID { LinkID(number: UInt64(number)) }

    @Test("However many idle connections fill the port, this laptop's own dials have room")
    func ownDials() {
        var admission = Admission(limits: ConnectionLimits())
        for number in 1...1_000 { _ = admission.admitIncoming(link(number), from: "10.0.0.\(number % 250)") }
        for number in 2_001...2_064 { #expect(admission.admitDialled(link(number)) == .admitted(evicted: nil)) }
        #expect(admission.admitDialled(link(2_065)) == .refused(.tooManyDials))
        admission.left(link(2_001))
        #expect(admission.admitDialled(link(2_066)) == .admitted(evicted: nil))
    }

    @Test(
        "A crew's laptop gets in while a stranger opens connections without end", arguments: ["10.0.0.9", "10.0.0.66"])
    func honestOnesGetIn(source: String) {
        var admission = Admission(limits: ConnectionLimits())
        let stranger = "10.0.0.66"
        for number in 1...100 { _ = admission.admitIncoming(link(number), from: stranger) }
        let honest = link(500)
        guard case .admitted = admission.admitIncoming(honest, from: source) else {
            Issue.record("a colleague was refused")
            return
        }
        admission.spoke(honest)
        for number in 501...5_000 {
            guard case .admitted(let evicted) = admission.admitIncoming(link(number), from: stranger) else { continue }
            #expect(evicted != honest)
        }
        #expect(admission.proved(honest) == nil)
    }

    @Test("The oldest silent connection of an address goes first, and the address with the most gives way")
    func order() {
        var limits = ConnectionLimits()
        limits.halfOpen = 4
        limits.halfOpenPerSource = 3
        var admission = Admission(limits: limits)
        #expect(admission.admitIncoming(link(1), from: "a") == .admitted(evicted: nil))
        admission.spoke(link(1))
        #expect(admission.admitIncoming(link(2), from: "a") == .admitted(evicted: nil))
        #expect(admission.admitIncoming(link(3), from: "a") == .admitted(evicted: nil))
        #expect(admission.admitIncoming(link(4), from: "a") == .admitted(evicted: link(2)))
        #expect(admission.admitIncoming(link(5), from: "b") == .admitted(evicted: nil))
        #expect(admission.admitIncoming(link(6), from: "c") == .admitted(evicted: link(3)))
        admission.spoke(link(4))
        #expect(
            admission.admitIncoming(link(7), from: "d") == .admitted(evicted: link(1)), "the oldest of those who spoke")
    }

    @Test(
        "Of many with an address each whoever came last stays longest, whatever that address is", arguments: ["0", "z"])
    func addressEach(source: String) {
        let limits = ConnectionLimits()
        var admission = Admission(limits: limits)
        for number in 1...limits.halfOpen { _ = admission.admitIncoming(link(number), from: "a\(number)") }
        let honest = link(10_000)
        #expect(admission.admitIncoming(honest, from: source) == .admitted(evicted: link(1)))
        for number in 2...limits.halfOpen {
            #expect(
                admission.admitIncoming(link(20_000 + number), from: "b\(number)") == .admitted(evicted: link(number)))
        }
        admission.spoke(honest)
        // Who has spoken stands longer than who has not.
        #expect(admission.admitIncoming(link(30_000), from: "c") == .admitted(evicted: link(20_002)))
        #expect(admission.proved(honest) == nil)
    }

    @Test("Those who are through the greeting are not evicted, and one address cannot take all their room")
    func proved() {
        var limits = ConnectionLimits()
        limits.incoming = 4
        limits.incomingPerSource = 2
        var admission = Admission(limits: limits)
        for (number, source) in [(1, "a"), (2, "a"), (3, "b")] {
            _ = admission.admitIncoming(link(number), from: source)
            #expect(admission.proved(link(number)) == nil)
        }
        #expect(admission.admitIncoming(link(4), from: "a") == .refused(.tooManyFromSource))
        #expect(admission.admitIncoming(link(5), from: "b") == .admitted(evicted: nil))
        #expect(admission.admitIncoming(link(6), from: "c") == .admitted(evicted: nil))
        #expect(admission.proved(link(5)) == nil)
        #expect(admission.proved(link(6)) == .full)
        admission.left(link(1))
        #expect(admission.admitIncoming(link(7), from: "a") == .admitted(evicted: nil))
    }
}
