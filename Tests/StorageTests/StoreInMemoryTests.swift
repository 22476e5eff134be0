import CRDT
import Simulation
import Storage
import Testing

@Suite("A store in memory")
struct StoreInMemoryTests {
    private let place = StorePlace(machine: "laptop", file: "1")

    @Test("What was copied opens again as the same replica, and elsewhere as another")
    func copies() async throws {
        var generator = SeededGenerator(seed: 1)
        let store = try Store.openInMemory(place: place, hostName: "anna", signer: TestSigner(1), generator: &generator)
        try await store.put(1, "name", "lamp")
        let contents = try store.copy()
        try await store.put(1, "name", "later")
        let again = try Store.openInMemory(
            contents: contents, place: place, hostName: "anna", signer: TestSigner(1), generator: &generator)
        #expect(again.identity == store.identity && !again.wasCopied)
        #expect(try await again.item(ItemID(1), job: Store.job)?.value(of: "name") == "lamp")
        try await again.put(2, "name", "vase")
        #expect(try await again.exported().count > 0)
        let elsewhere = try Store.openInMemory(
            contents: contents, place: StorePlace(machine: "other", file: "1"), hostName: "bert", signer: TestSigner(1),
            generator: &generator)
        #expect(elsewhere.wasCopied && elsewhere.identity.replica != store.identity.replica)
    }

    @Test("A full disk refuses every commit and changes nothing, until there is room again")
    func fullDisk() async throws {
        var generator = SeededGenerator(seed: 2)
        let store = try Store.openInMemory(place: place, hostName: "anna", signer: TestSigner(1), generator: &generator)
        try await store.put(1, "name", "lamp")
        store.setDiskFull(true)
        do {
            try await store.put(1, "name", "vase")
            Issue.record("the commit went through")
        } catch {
            #expect((error as? StoreError)?.code == .diskFull, "\(error)")
        }
        #expect(try await store.item(ItemID(1), job: Store.job)?.value(of: "name") == "lamp")
        store.setDiskFull(false)
        try await store.put(1, "name", "vase")
        #expect(try await store.item(ItemID(1), job: Store.job)?.value(of: "name") == "vase")
    }
}
