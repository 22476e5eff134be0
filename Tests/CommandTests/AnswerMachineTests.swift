import Testing

@testable import LocalAPI

/// What is handed out of an answer, and when the socket is read.
@Suite("An answer on its way")
struct AnswerMachineTests {
    private struct Failure: Error {}

    private enum Seen: Equatable {
        case nothing
        case read
        case part(Int)
        case end
        case failure
    }

    private func seen(_ directive: AnswerMachine<Int>.Directive) -> Seen {
        switch directive {
        case .nothing: .nothing
        case .read: .read
        case .hand(.success(let part?)): .part(part)
        case .hand(.success(nil)): .end
        case .hand(.failure): .failure
        }
    }

    @Test("The socket is read while somebody waits, and left alone while nobody does")
    func demand() {
        var machine = AnswerMachine<Int>()
        #expect(seen(machine.readCompleted()) == .nothing)
        #expect(seen(machine.ask()) == .read)
        // It has brought half a part.
        #expect(seen(machine.readCompleted()) == .read)
        #expect(seen(machine.came(1)) == .part(1))
        #expect(seen(machine.came(2)) == .nothing)
        #expect(seen(machine.readCompleted()) == .nothing)
        #expect(seen(machine.ask()) == .part(2))
        #expect(seen(machine.ask()) == .read)
    }

    @Test("What has come before a failure is handed over before it, and of several ends the first counts")
    func failure() {
        var machine = AnswerMachine<Int>()
        #expect(seen(machine.came(1)) == .nothing)
        #expect(seen(machine.end(because: Failure())) == .nothing)
        #expect(seen(machine.came(2)) == .nothing)
        #expect(seen(machine.end()) == .nothing)
        #expect([seen(machine.ask()), seen(machine.ask()), seen(machine.ask())] == [.part(1), .failure, .failure])
    }

    @Test("A whole answer stays whole when its connection fails afterwards")
    func whole() {
        var machine = AnswerMachine<Int>()
        #expect(seen(machine.ask()) == .read)
        #expect(seen(machine.came(1)) == .part(1))
        #expect(seen(machine.ask()) == .read)
        #expect(seen(machine.end()) == .end)
        #expect(seen(machine.end(because: Failure())) == .nothing)
        #expect(seen(machine.ask()) == .end)
    }

    @Test("Whoever waits hears of a failure at once")
    func waiting() {
        var machine = AnswerMachine<Int>()
        #expect(seen(machine.ask()) == .read)
        #expect(seen(machine.end(because: Failure())) == .failure)
    }
}
