import CRDT
import Storage
import Testing

/// Barcodes are looked up by their bytes, whatever another device has put into them.
@Suite(.timeLimit(.minutes(1)))
struct BarcodeTextTests {
    @Test(
        "Two spellings that Unicode holds equal are two barcodes, whether kept up or built anew", arguments: [1, 700])
    func spellings(others: Int) async throws {
        let place = try Place()
        let store = try await place.open()
        defer { withExtendedLifetime(place) {} }
        let texts = ["Caf\u{E9}", "Cafe\u{301}", " Caf\u{E9}"]
        try await fill(store, texts, others: others)
        for (index, text) in texts.enumerated() {
            let found = try await store.items(job: Store.job, withBarcode: text)
            #expect(found == [ItemID(UInt128(1_000_000 + index))])
        }
        #expect(try await store.duplicateBarcodes(job: Store.job).isEmpty)
        #expect(try await store.totals(of: Store.job).duplicateBarcodes == 0)
    }

    @Test("What follows a NUL is part of a barcode")
    func nul() async throws {
        let place = try Place()
        let store = try await place.open()
        defer { withExtendedLifetime(place) {} }
        let texts = ["AB", "AB\0one", "AB\0two", "\0"]
        try await fill(store, texts, others: 1)
        for (index, text) in texts.enumerated() {
            let found = try await store.items(job: Store.job, withBarcode: text)
            #expect(found == [ItemID(UInt128(1_000_000 + index))])
        }
        #expect(try await store.duplicateBarcodes(job: Store.job).isEmpty)
    }

    private func fill(_ store: Store, _ texts: [String], others: Int) async throws {
        for (index, text) in texts.enumerated() {
            try await store.put(UInt128(1_000_000 + index), "barcode", text)
        }
        for index in 1...others { try await store.put(UInt128(index), "barcode", "other \(index)") }
    }
}
