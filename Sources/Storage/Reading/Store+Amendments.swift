package import CRDT
package import Inventory

/// How an inventory that was signed stands against the present one.
package enum SignedInventory: Hashable, Sendable {
    /// Ascending by item; empty for an inventory that is as it was signed.
    case held([Amendment])
    /// Journals that it covers have not come here as far; so it cannot be told yet.
    case notHeldYet
    /// What the journals say up to there has another digest: a journal was forked or stamped anew since (rules R9, R5),
    /// or the signature is for an inventory that never was.
    case anotherInventory
    /// Its items are gone with the job (rule R10).
    case removedJob
}

extension Store {
    /// What was changed since an inventory was signed: its items are made again from the journals up to there, and
    /// compared with the present ones where their digest is the signed one. Takes as long as to read all journals,
    /// except where the inventory is the signed one.
    ///
    /// - Parameter digest: SHA-256 of the canonical export that was signed for, 64 hexadecimal digits in lower case.
    package func amendments(
        of job: JobID, since vector: SignedVector, digest: String
    ) async throws -> SignedInventory {
        if try await self.digest(of: job).text == digest { return .held([]) }
        return try await read(of: job) { rows in
            guard try !rows.isRemoved() else { return .removedJob }
            let held = try rows.vector()
            guard vector.sequences.allSatisfy({ held[$0.key].sequence >= $0.value }) else { return .notHeldYet }
            let limits = try rows.limits()
            let counted = try Self.items(of: rows, upTo: vector, limits)
            var items = counted
            if try !limits.isEmpty && Self.digest(of: job, items) != digest {
                // It was signed before anybody knew that some of it does not count.
                items = try Self.items(of: rows, upTo: vector, JournalLimits())
            }
            guard try Self.digest(of: job, items) == digest else { return .anotherInventory }
            let uncounted = try items.filter { id, signed in
                try counted[id] != signed && !(rows.item(id)?.shows(signed) ?? false)
            }
            var amendments = try uncounted.map { Amendment($0, uncounted: $1, present: try rows.item($0)) }
            try rows.forEachItem { id, state in
                guard uncounted[id] == nil else { return true }
                if let amendment = Amendment(id, from: items[id], to: state) { amendments.append(amendment) }
                return true
            }
            return .held(amendments.sorted { $0.item < $1.item })
        }
    }

    private static func items(
        of rows: JobRows, upTo vector: SignedVector, _ limits: JournalLimits
    ) throws -> [ItemID: ItemState] {
        var items: [ItemID: ItemState] = [:]
        for (replica, last) in vector.sequences {
            try rows.forEachChange(of: replica, sequences: 1...last) { dotted in
                guard dotted.last <= last, dotted.change.item != .job, limits.includes(dotted) else { return }
                items[dotted.change.item, default: ItemState()].apply(dotted.change, in: replica)
            }
        }
        return items
    }

    private static func digest(of job: JobID, _ items: [ItemID: ItemState]) throws -> String {
        var hash = ExportHash(of: CanonicalExport(job: job))
        for (id, state) in items.sorted(by: { $0.key < $1.key }) {
            try ItemStateCodec.encode(state).withUnsafeBytes { hash.add(try PackedItem($0), id: id) }
        }
        return hash.finish()
    }
}
