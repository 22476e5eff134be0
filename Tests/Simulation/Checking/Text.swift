import CRDT

/// Text by its bytes: two spellings that Unicode holds equal are two texts, as they are to every journal.
struct Text: Hashable, Comparable, CustomStringConvertible {
    let bytes: [UInt8]

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    init(_ name: FieldName) {
        self.init(name.text)
    }

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    static func < (left: Text, right: Text) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    var description: String { String(decoding: bytes, as: UTF8.self) }
}

/// What one transform does, apart from who did it and when.
enum Deed: Hashable {
    case set(field: Text, value: Text)
    case append(list: Text, text: Text)
    case remove

    /// Nil for what is said about the job as a whole.
    init?(_ operation: CRDT.Operation) {
        switch operation {
        case .set(let field, let value, _): self = .set(field: Text(field), value: Text(value))
        case .append(let list, let entry): self = .append(list: Text(list), text: Text(entry))
        case .remove: self = .remove
        default: return nil
        }
    }
}

extension Deed: CustomStringConvertible {
    var description: String {
        switch self {
        case .set(let field, let value): "\(field)=\(value)"
        case .append(_, let text): "the remark \(text)"
        case .remove: "the removal"
        }
    }
}

/// A transform by whoever wrote it first, in whichever journal it stands (rule R9).
struct Written: Hashable {
    let item: ItemID
    let deed: Deed
    let write: WriteStamp
}

extension Change {
    /// That a replica takes part, and on which laptop it is: no work of a person's.
    var isPreamble: Bool {
        item == .job
            && operations.allSatisfy { operation in
                guard case .set(let field, _, _) = operation else { return false }
                return field.text.hasPrefix("author.")
            }
    }

    /// Says something about the job as a whole.
    var isStatement: Bool { operations.contains(where: \.isStatement) }

    /// What people did, for a change in the journal of `replica`.
    func work(in replica: ReplicaID) -> [Written] {
        guard !isPreamble else { return [] }
        let write = write(in: replica)
        return operations.compactMap { operation in
            Deed(operation).map { Written(item: item, deed: $0, write: write) }
        }
    }
}

// MARK: For people who read what is wrong

extension JournalSegment {
    var brief: String { "\(replica.description.prefix(4)) \(first)–\(head.sequence)/\(head.digest.low % 1_000)" }
}

extension VersionVector.Entry {
    var brief: String { "\(replica.description.prefix(4)):\(head.sequence)/\(head.digest.low % 1_000)" }
}
