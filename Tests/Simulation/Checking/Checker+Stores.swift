import CRDT
import Inventory
import Storage

/// Whole stores, read anew and held against what was reported durable.
extension Checker {
    /// The store was opened anew: everything is read again, each journal from its first change to its head (rule R10).
    func reloaded(_ device: Holder) async throws {
        writers[device.store.identity.replica] = device.store.identity.device
        let fresh = try await read(device)
        for (job, former) in device.references.sorted(by: { $0.key < $1.key }) where !former.isEmpty {
            guard let now = fresh[job] else { throw Violation("R4", "\(device) has lost job \(job).") }
            try checkNothingLost(of: former, in: now, job, on: device)
        }
        device.references = fresh
        device.vectors = fresh.mapValues(\.vector)
        device.removals = Dictionary(uniqueKeysWithValues: try await device.store.removals())
        for reference in fresh.values { try checkAuthors(of: reference.journals.values.joined(), on: device) }
        for job in fresh.keys.sorted() { try await look(at: device, job) }
    }

    /// All work that was here is here, or has gone with its job.
    ///
    /// - Parameter moved: has another time now.
    func checkNothingLost(
        of former: Reference, in fresh: Reference, _ job: JobID, besides moved: Set<Written> = [], on device: Holder
    ) throws {
        guard fresh.isRemoved || !former.isRemoved else {
            throw Violation("R10", "\(device) does not know any more that a job was removed.")
        }
        let gone = fresh.isRemoved ? wentWithJob[job] ?? [] : []
        let lost = former.work.filter { !fresh.work.contains($0) && !gone.contains($0) && !moved.contains($0) }
        if let one = lost.min(by: { "\($0)" < "\($1)" }) {
            throw Violation("R4", "\(device) has lost \(one.deed) of \(one.item), which was durable.")
        }
    }

    /// What a store's journals hold, byte for byte.
    func read(_ device: Holder) async throws -> [JobID: Reference] {
        var references: [JobID: Reference] = [:]
        for (job, vector) in try await device.store.vectors() {
            references[job] = try await read(job, upTo: vector, from: device)
        }
        return references
    }

    func read(_ job: JobID, upTo vector: VersionVector, from device: Holder) async throws -> Reference {
        var fresh = Reference()
        if let removal = try await device.store.removal(of: job) { fresh.take(removal) }
        for entry in vector.entries {
            try await read(entry, of: job, into: &fresh, from: device)
            count(.journal)
        }
        return fresh
    }

    private func read(
        _ entry: VersionVector.Entry, of job: JobID, into fresh: inout Reference, from device: Holder
    ) async throws {
        var next = fresh.head(of: entry.replica).sequence + 1
        while next <= entry.head.sequence {
            let segment = try await device.store.segment(
                of: entry.replica, job: job, from: next, maximumBytes: 1 << 20)
            guard let segment, segment.first == next else {
                throw Violation("R10", "\(device) lacks \(entry.brief) from \(next) on.")
            }
            try fresh.append(segment)
            next = segment.head.sequence + 1
        }
        guard fresh.head(of: entry.replica) == entry.head else {
            throw Violation("R9", "\(device) holds another journal than \(entry.brief).")
        }
    }

    func lookAtAll(of device: Holder, isDeep: Bool) async throws {
        for job in device.references.keys.sorted() where !device[job].isEmpty {
            try await look(at: device, job, isDeep: isDeep)
        }
    }

    /// Compares every item of a job in a store with the reference, and its export with others at the same vector.
    ///
    /// - Parameter isDeep: also everything else that people read of it; now and then it is done anyway.
    func look(at device: Holder, _ job: JobID, isDeep: Bool = false) async throws {
        device.changesSinceLook[job] = 0
        device.looks += 1
        let reference = device[job]
        guard !reference.isEmpty else { return }
        guard let vector = try? await device.store.vector(of: job) else {
            throw Violation("R4", "\(device) has lost the job \(job).")
        }
        guard vector == reference.vector else {
            throw Violation(
                "R4", "\(device) holds \(vector.brief) and not what it reported durable, \(reference.vector.brief).")
        }
        try await checkRemoval(of: job, on: device)
        try await checkItems(of: job, on: device)
        let isDetailed = isDeep || device.looks % 16 == 0 && reference.items.count < 500
        let bytes = try await export(of: device, job)
        let digest = bytes.withUnsafeBytes { SipHash.hash($0, key: (0, 0)) }
        let key = SeenState(job: job, vector: vector, isRemoved: reference.isRemoved)
        if let other = exports.updateValue(digest, forKey: key), other != digest {
            throw Violation(
                "R3",
                "\(device) exports other bytes than another with the same vector: "
                    + String(decoding: bytes.suffix(600), as: UTF8.self))
        }
        if !device.isChannel { try await checkOverlay(of: device, job) }
        guard isDetailed else { return }
        try await checkContents(of: job, exported: bytes, on: device)
    }

    /// The list of items, with all that is known of each: also of removed ones, as long as the job lives (rule R10).
    private func checkItems(of job: JobID, on device: Holder) async throws {
        let reference = device[job]
        let stored = try await device.store.items(job: job, limit: .max)
        let expected = reference.itemIDs
        guard stored.map(\.id) == expected else {
            let (listed, known) = (Set(stored.map(\.id)), Set(expected))
            let missing = known.subtracting(listed).sorted(), strange = listed.subtracting(known).sorted()
            throw Violation(
                reference.isRemoved ? "R10" : "R3", "\(device) lacks the items \(missing) and has \(strange).")
        }
        for item in stored {
            let wanted = reference.expected(item.id)
            if let difference = wanted.difference(from: item.state) {
                throw Violation(difference.rule, "on \(device), item \(item.id): \(difference.text).")
            }
            if wanted.isRemoved { count(.removedItem) } else { count(.item) }
            count(.field, wanted.values.count)
            if !wanted.remarks.isEmpty { count(.remark, wanted.remarks.count) }
        }
    }

    func export(of device: Holder, _ job: JobID) async throws -> [UInt8] {
        try await device.store.exported(job)
    }
}

extension Store {
    /// The canonical export as one piece.
    func exported(_ job: JobID) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        let cursor = try exportCursor(of: job)
        while let piece = try await cursor.next() { bytes += piece }
        return bytes
    }
}

extension VersionVector {
    var brief: String { entries.map(\.brief).joined(separator: " ") }
}
