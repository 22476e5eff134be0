import CRDT
import HTTPCoding
import Inventory
import LocalAPI
import LocalAPIServer

/// The elements of `GET /v1/jobs/{job}/items`, written from where the items are stored: `ItemView` in JSON, without making one.
struct ItemLines: ItemExport {
    static let needsSurvey = false

    private let form: ElementForm
    private let filters: [(field: FieldName, value: [UInt8])]
    /// What the laptops of authors are called.
    private let hostName: @Sendable (ReplicaID) -> String?
    private var isFirst = true
    /// How the write before is told: mostly the next item is of the same author and moment.
    private var last: (write: WriteStamp, text: [UInt8])?

    init(
        as form: ElementForm, matching filters: [(field: FieldName, value: String)],
        hostName: @escaping @Sendable (ReplicaID) -> String?
    ) {
        self.form = form
        self.filters = filters.map { ($0.field, Array($0.value.utf8)) }
        self.hostName = hostName
    }

    func jobIsRemoved() {}

    func survey(_ item: PackedItem) {}

    func begin(into bytes: inout [UInt8]) { bytes.append(utf8: form.opening) }

    mutating func add(_ item: PackedItem, id: ItemID, into bytes: inout [UInt8]) {
        guard !item.isRemoved, isWanted(item) else { return }
        if !isFirst { bytes.append(utf8: form.separator) }
        isFirst = false
        bytes.append(utf8: #"{"fields":"#)
        appendFields(of: item, to: &bytes)
        bytes.append(utf8: #","id":"#)
        bytes.append(jsonString: id)
        bytes.append(utf8: #","notes":"#)
        bytes.append(jsonNotesOf: item)
        bytes.append(UInt8(ascii: ","))
        append(item.lastWrite ?? WriteStamp(stamp: .zero, author: ReplicaID(0)), to: &bytes)
        bytes.append(UInt8(ascii: "}"))
    }

    func end(into bytes: inout [UInt8]) { bytes.append(utf8: form.closing(isEmpty: isFirst)) }

    private func isWanted(_ item: PackedItem) -> Bool {
        filters.allSatisfy { filter in
            guard let field = item.fields.first(where: { $0.name == filter.field }) else { return filter.value.isEmpty }
            return item.bytes(field.value).elementsEqual(filter.value)
        }
    }

    private func appendFields(of item: PackedItem, to bytes: inout [UInt8]) {
        // Only names beyond ASCII can be equal as keys of an object and differ in their bytes.
        guard item.fields.contains(where: { $0.name.text.utf8.contains { $0 >= 0x80 } }) else {
            return bytes.append(jsonFieldsOf: item)
        }
        let object = Dictionary(
            fields: item.fields.map { ($0.name, String(decoding: item.bytes($0.value), as: UTF8.self)) })
        bytes.append(UInt8(ascii: "{"))
        bytes.append(jsonElements: object.sorted(by: { $0.key < $1.key })) { bytes, field in
            bytes.append(jsonString: field.key)
            bytes.append(UInt8(ascii: ":"))
            bytes.append(jsonString: field.value)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func append(_ write: WriteStamp, to bytes: inout [UInt8]) {
        if let last, last.write == write { return bytes.append(contentsOf: last.text) }
        var text: [UInt8] = []
        text.append(utf8: #""updatedAt":""# + write.stamp.timestamp.description)
        text.append(utf8: #"","updatedBy":""# + write.author.description + #"","updatedByName":"#)
        if let name = hostName(write.author) { text.append(jsonString: name) } else { text.append(utf8: "null") }
        last = (write, text)
        bytes.append(contentsOf: text)
    }
}
