import Inventory
import Testing

struct MassRemovalTests {
    static let cases: [(removing: Int, of: Int, asks: Bool)] = [
        (1, 1, false), (19, 19, false), (20, 20, true), (20, 39, true), (20, 40, false), (21, 40, true),
        (500, 1_000, false), (501, 1_000, true), (0, 0, false),
    ]

    @Test("Twenty items or more that are over half of the job want a confirmation", arguments: cases)
    func threshold(removing: Int, of all: Int, asks: Bool) {
        #expect(MassRemoval.needsConfirmation(removing: removing, of: all) == asks)
    }
}
