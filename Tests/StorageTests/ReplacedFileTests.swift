import CRDT
import Foundation
import Inventory
import Simulation
import Storage
import Testing

@Suite("A store whose file is replaced while the program runs", .timeLimit(.minutes(1)))
struct ReplacedFileTests {
    @Test("Nothing is acknowledged that went into a file which was deleted or replaced", arguments: [true, false])
    func replaced(isPutBack: Bool) async throws {
        let place = try Place()
        let store = try await place.open()
        func put(_ item: UInt128) async throws {
            let fields = [Edit.FieldValue(field: "name", value: "lamp")]
            _ = try await store.edit(
                job: Store.job, createsJob: true, nowMilliseconds: 1_000, [.put(item: ItemID(item), fields: fields)])
        }
        try await put(1)
        #expect(store.isInPlace())
        let backup = place.path() + ".backup"
        try FileManager.default.copyItem(atPath: place.path(), toPath: backup)
        try FileManager.default.removeItem(atPath: place.path())
        if isPutBack { try FileManager.default.moveItem(atPath: backup, toPath: place.path()) }
        #expect(!store.isInPlace())
        let error = await #expect(throws: StoreError.self) { try await put(2) }
        #expect(error?.code == .replacedFile)
        try store.close()
    }
}
