import Foundation
import LocalAPI
import Testing

@testable import Node

@Suite("Copies of the store on their way", .timeLimit(.minutes(1)))
struct TransferDirectoryTests {
    private let state = NSTemporaryDirectory() + "muster-transfer-\(UUID().uuidString)"

    private func left() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: state)) ?? [] }

    @Test("One is under way at a time, and nothing is left of it, whatever becomes of it")
    func oneAtATime() async throws {
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: state) }
        let transfers = TransferDirectory(in: state)
        try await transfers.withFile { path in
            try Data("copy".utf8).write(to: URL(filePath: path))
            let error = await #expect(throws: APIError.self) { try await transfers.withFile { _ in } }
            #expect(error?.code == .unavailable)
            #expect(left() == ["transfer"], "the first one's is still there")
        }
        #expect(left() == [])
        await #expect(throws: CancellationError.self) {
            try await transfers.withFile { path in
                try Data("half".utf8).write(to: URL(filePath: path))
                throw CancellationError()
            }
        }
        #expect(left() == [])
        try await transfers.withFile { _ in }
    }

    @Test("What is read has no name any more, and its length is known before it is read")
    func pieces() async throws {
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: state) }
        let content = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let path = state + "/file"
        try content.write(to: URL(filePath: path))
        let file = try FilePieces(taking: path)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(await file.size == content.count)
        var read: [UInt8] = []
        while let piece = try await file.next() { read += piece }
        #expect(Data(read) == content)
    }

    @Test("No copy is begun for which the disk has no room, the reserve for the inventory included")
    func room() throws {
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: state) }
        let transfers = TransferDirectory(in: state)
        try transfers.checkRoom(for: 0)
        let error = #expect(throws: APIError.self) { try transfers.checkRoom(for: 1 << 60) }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("MiB free") ?? false)
    }

    @Test("What a daemon left that ended in the midst of it goes at the next start")
    func leftovers() throws {
        try FileManager.default.createDirectory(atPath: state + "/transfer", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: state) }
        try Data("half".utf8).write(to: URL(filePath: state + "/transfer/store.sqlite"))
        _ = try StateDirectory(path: state)
        #expect(!left().contains("transfer"))
    }
}
