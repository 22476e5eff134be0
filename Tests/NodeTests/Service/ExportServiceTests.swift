import LocalAPIServer
import Storage
import CRDT
import Inventory
import LocalAPI
import Testing

@testable import Node

/// What leaves as a file: the same bytes wherever the same is held.
@Suite(.timeLimit(.minutes(1)))
struct ExportServiceTests {
    /// A job of two laptops with all that an export can hold, before they have met again.
    private func crew() async throws -> (anna: Laptop, bert: Laptop, job: JobID) {
        let (anna, bert) = (try await Laptop("anna"), try await Laptop("bert"))
        let job = try await anna.job("Smith", id: "Elm")
        let sofa = try await anna.add(["name": "Sofa, \"red\"\nand old", "room": "Hall"], to: job)
        let vase = try await anna.add(["name": "Vase", "barcode": "7"], to: job)
        try await anna.meet(bert, over: job)
        _ = try await anna.service.addNote(NoteRequest(text: "scratched"), item: sofa, job: job)
        _ = try await anna.service.removeItem(vase, job: job)
        try await bert.set(["room": "Den", "Größe": "3 m"], of: sofa, in: job)
        _ = try await bert.add(["name": "Lamp", "replaces": vase], to: job)
        return (anna, bert, try #require(JobID(job)))
    }

    /// The canonical export, made of the store's items one by one.
    private func canonical(_ laptop: Laptop, _ job: JobID) async throws -> [UInt8] {
        var export = CanonicalExport(job: job)
        var bytes: [UInt8] = []
        export.begin(into: &bytes)
        let cursor = try laptop.store.itemCursor(of: job)
        while let batch = try await cursor.next() {
            for item in batch {
                try ItemStateCodec.encode(item.state).withUnsafeBytes {
                    export.add(try PackedItem($0), id: item.id, into: &bytes)
                }
            }
        }
        export.end(into: &bytes)
        return bytes
    }

    @Test("The export in JSON is the canonical one, with what was removed")
    func json() async throws {
        let (anna, bert, job) = try await crew()
        try await anna.meet(bert, over: job.text)
        let bytes = try await anna.exported(job, .json)
        #expect(bytes == (try await canonical(anna, job)))
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains(#""notes":["scratched"]"#) && text.contains(#""name":"Sofa, \"red\"\nand old""#))
        #expect(!text.contains("Vase") && !text.hasSuffix(#""removed":[]}"#))
    }

    @Test("The export in CSV has a row an item and a column a field, also of another language")
    func csv() async throws {
        let (anna, bert, job) = try await crew()
        try await anna.meet(bert, over: job.text)
        let ids = try await anna.items(job.text).map(\.id)
        let vase = try await anna.service.item("7", job: job.text).id
        let text = String(decoding: try await anna.exported(job, .csv), as: UTF8.self)
        let rows = [ids[0]: "3 m,\"Sofa, \"\"red\"\"\nand old\",,Den,scratched", ids[1]: ",Lamp,\(vase),,"]
        #expect(text == "id,Größe,name,replaces,room,notes\r\n" + ids.map { "\($0),\(rows[$0] ?? "")\r\n" }.joined())
    }

    @Test("Laptops that hold the same export the same bytes, and others do not", arguments: ExportFormat.allCases)
    func everywhere(format: ExportFormat) async throws {
        let (anna, bert, job) = try await crew()
        #expect(try await anna.exported(job, format) != (try await bert.exported(job, format)))
        try await anna.meet(bert, over: job.text)
        #expect(try await anna.exported(job, format) == (try await bert.exported(job, format)))
        let (here, there) = (try await anna.service.job(job.text), try await bert.service.job(job.text))
        #expect(here.digest == there.digest && here.vector == there.vector)
    }

    @Test("A job without items has an export of no items", arguments: ExportFormat.allCases)
    func empty(format: ExportFormat) async throws {
        let anna = try await Laptop("anna")
        let job = try #require(JobID(try await anna.job("Smith", id: "Elm")))
        let text = String(decoding: try await anna.exported(job, format), as: UTF8.self)
        #expect(text == (format == .csv ? "id,notes\r\n" : #"{"items":[],"job":"Elm","removed":[]}"#))
    }
}
