import CRDT
import Inventory
import Testing

@Suite("How far the journals reached that a customer signed for")
struct SignedVectorTests {
    private func vector(_ count: Int) -> VersionVector {
        VersionVector(
            (0..<count).map {
                VersionVector.Entry(
                    replica: ReplicaID(UInt128($0 + 1)), head: JournalHead(sequence: UInt64($0 + 7), digest: .empty))
            })
    }

    @Test("A vector is read back as it was written", arguments: [0, 1, 2, SignedVector.longest])
    func roundTrip(count: Int) throws {
        let signed = try #require(SignedVector(vector(count)))
        #expect(SignedVector(signed.text) == signed)
        #expect(signed.sequences.count == count)
        #expect(signed.text.split(separator: " ").count == count)
    }

    @Test("There are at most as many journals as fit")
    func longest() throws {
        #expect(SignedVector(vector(SignedVector.longest + 1)) == nil)
        let text = (1...100_000).map { "\(ReplicaID(UInt128($0))):1" }.joined(separator: " ")
        #expect(SignedVector(text) == nil)
    }

    @Test(
        "Each vector has one spelling",
        arguments: [
            "x", "1:1", ":", " ", "A:1", "A:0", "A:01", "A:+1", "A: 1", "A:1 ", " A:1", "A:1  B:1", "B:1 A:1",
            "A:1 A:1",
            "A:1:1", "A:", "a:1", "A:1099511627777", "A:99999999999999999999999",
        ])
    func spelling(pattern: String) {
        let text = pattern.replacing("A", with: "\(ReplicaID(10))").replacing("B", with: "\(ReplicaID(11))")
            .replacing("a", with: String(repeating: "AB", count: 16))
        #expect(SignedVector(text) == nil)
    }
}
