import CRDT
import Crypto
import Inventory
import LocalAPI

/// What the first reading of a file without a key tells, before anything of it is sent.
struct ImportSurvey {
    let origin: FileOrigin
    /// The name of the column with barcodes; nil where there is none.
    let barcodeColumn: String?
    private let barcodes: Set<TextKey>
    private let lastLine: Int

    /// Reads the file to its end; then it can be read again.
    ///
    /// - Parameter job: its full id.
    init(of input: InputFile, _ table: TableReader, job: String) async throws {
        try input.keep()
        var hash = SHA256()
        var barcodes: Set<TextKey> = []
        var last = 0
        let mapping = try await table.read(input) {
            hash.update(data: $0)
        } each: { record, mapping in
            last = record.line
            guard let (_, index) = mapping.column(filling: WellKnownField.barcode.text),
                let cells = try? record.content.get(), cells.indices.contains(index)
            else { return }
            let barcode = FieldText.trimmed(cells[index])
            if !barcode.isEmpty { barcodes.insert(TextKey(barcode)) }
        }
        input.rewind()
        origin = FileOrigin(job: job, file: hash.finalize())
        barcodeColumn = mapping.column(filling: WellKnownField.barcode.text)?.name
        (self.barcodes, lastLine) = (barcodes, last)
    }

    var barcodeCount: Int { barcodes.count }

    /// How many of its barcodes items of the job have that do not come from this file.
    func barcodesElsewhere(in job: String, _ client: LocalClient) async throws -> Int {
        guard !barcodes.isEmpty else { return 0 }
        var found: Set<TextKey> = []
        try await client.items(job: job, matching: []) { (items: [ItemRow]) in
            for item in items {
                guard let barcode = item.fields.barcode.map({ TextKey(FieldText.trimmed($0)) }),
                    barcodes.contains(barcode), !isOwn(item.id), !(item.fields.replaces.map(isOwn) ?? false)
                else { continue }
                found.insert(barcode)
            }
        }
        return found.count
    }

    private func isOwn(_ id: String) -> Bool {
        ItemID(id).map { origin.made($0, upTo: lastLine) } ?? false
    }
}
