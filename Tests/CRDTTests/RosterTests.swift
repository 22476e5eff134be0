import CRDT
import Testing

@Suite("The roster")
struct RosterTests {
    private let anna = ReplicaID(1)
    private let bert = ReplicaID(2)
    private let cleo = ReplicaID(3)

    private func positions(_ pairs: (ReplicaID, UInt64)...) -> [Position] {
        pairs.map { Position(replica: $0.0, sequence: $0.1) }
    }

    @Test("What an expelled replica wrote beyond what was known is late, until it says that it knows")
    func expelled() {
        var roster = Roster()
        roster.add(.expel(cleo, known: 10), at: Dot(replica: anna, sequence: 5))
        #expect(roster.lateSpans(of: cleo) == [11...UInt64.max])
        #expect(roster.isExpelled(cleo) && !roster.isExpelled(bert))
        roster.add(.hold(positions((anna, 4))), at: Dot(replica: cleo, sequence: 15))
        #expect(roster.isExpelled(cleo), "it did not hold the expulsion yet")
        roster.add(.hold(positions((anna, 5))), at: Dot(replica: cleo, sequence: 20))
        #expect(roster.lateSpans(of: cleo) == [11...19])
        #expect(!roster.isExpelled(cleo))
        #expect(roster.lateSpans(of: anna).isEmpty && roster.lateSpans(of: bert).isEmpty)
    }

    @Test("Statements count alike in whatever order they come")
    func orderDoesNotMatter() {
        let fold = Fold(bounds: positions((anna, 9), (bert, 8)), members: [anna, bert], items: [], journals: [])
        let statements: [(Operation, Dot)] = [
            (.expel(cleo, known: 10), Dot(replica: anna, sequence: 5)),
            (.expel(cleo, known: 7), Dot(replica: bert, sequence: 2)),
            (.fold(fold), Dot(replica: anna, sequence: 10)),
            (.hold(positions((anna, 10), (bert, 2))), Dot(replica: cleo, sequence: 30)),
        ]
        var first: [ClosedRange<UInt64>]?
        for start in statements.indices {
            var roster = Roster()
            for (operation, dot) in statements[start...] + statements[..<start] { roster.add(operation, at: dot) }
            for (operation, dot) in statements { roster.add(operation, at: dot) }
            let late = roster.lateSpans(of: cleo)
            #expect(late == first ?? late)
            first = late
        }
        #expect(first == [1...29])
    }

    @Test("A stranger to a fold is late, unless it held all of its bounds, or the fold itself, before it wrote")
    func strangers() {
        let fold = Fold(bounds: positions((anna, 9), (bert, 8)), members: [anna, bert], items: [], journals: [])
        for (held, isLate) in [
            (positions((anna, 9), (bert, 8)), false), (positions((anna, 10)), false), (positions((anna, 9)), true),
            ([], true),
        ] {
            var roster = Roster()
            roster.add(.hold(held), at: Dot(replica: cleo, sequence: 2))
            roster.add(.fold(fold), at: Dot(replica: anna, sequence: 10))
            #expect(roster.lateSpans(of: cleo).holds(3) == isLate)
            #expect(!roster.lateSpans(of: bert).holds(100), "a member is never late for it")
        }
    }

    @Test("A tombstone goes when everybody said to hold it, and that they said so; then nothing more is said")
    func duties() throws {
        let members = [anna, bert, cleo]
        var roster = Roster()
        var heads = positions((anna, 2), (bert, 2), (cleo, 2))
        for member in members { roster.add(.hold([]), at: Dot(replica: member, sequence: 2)) }
        // Anna removes something.
        heads[0] = Position(replica: anna, sequence: 3)
        var isFolded = false
        var said = 0
        func duty(of own: ReplicaID) -> Roster.Duty {
            roster.duty(of: own, claims: heads, heads: heads) { replica, limit in
                replica == anna && limit >= 3 && !isFolded ? 3 : nil
            }
        }
        for _ in 0..<10 {
            for (index, member) in members.enumerated() {
                switch duty(of: member) {
                case .nothing: continue
                case .hold:
                    let next = heads[index].sequence + 1
                    roster.add(.hold(heads), at: Dot(replica: member, sequence: next))
                    heads[index] = Position(replica: member, sequence: next)
                    said += 1
                case .fold(let stability):
                    #expect(stability.stable[of: anna] >= 3)
                    #expect(stability.members == members)
                    // The first of them does it.
                    if member == anna { isFolded = true }
                }
            }
        }
        #expect(isFolded)
        #expect(said <= 6)
    }

    @Test("Somebody who was heard of but is not known here keeps everything where it is")
    func unknownReplica() {
        var roster = Roster()
        let heads = positions((anna, 9), (bert, 9))
        roster.add(.hold(positions((bert, 9))), at: Dot(replica: anna, sequence: 9))
        roster.add(.hold(positions((anna, 9))), at: Dot(replica: bert, sequence: 8))
        #expect(roster.stability(at: heads) != nil)
        roster.add(.hold(positions((anna, 9), (cleo, 1))), at: Dot(replica: bert, sequence: 9))
        #expect(roster.stability(at: heads) == nil)
    }
}
