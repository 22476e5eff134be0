import LocalAPI
import Testing

@Suite("Pieces that are pulled")
struct PullSequenceTests {
    @Test("Half a list never looks like a whole one: whose task is cancelled gets an error")
    func cancelled() async {
        let pieces = Batches<Int> { [1] }
        let reader = Task {
            var taken = 0
            for try await piece in pieces {
                taken += piece.count
                withUnsafeCurrentTask { $0?.cancel() }
            }
            return taken
        }
        await #expect(throws: CancellationError.self) { try await reader.value }
    }
}
