import CRDT
import Inventory
import Replication
import Storage

/// What people write: one edit, several in one commit, thousands at once; and a crew whose names are many.
extension World {
    func edit(_ device: Device, _ wishes: [PlannedEdit]) async throws {
        guard canAct(device), let job = wishes.first.map({ jobs[$0.job] }) else { return }
        let stampTime = device.stampTime(at: now)
        if device.lieMilliseconds > 0 { counters.count(.lie) }
        do {
            let result = try await device.store.edit(
                job: job, createsJob: true, now: { stampTime }, wishes.map { $0.edit(in: plan) })
            guard let commit = result.commit else { return }
            counters.edits += 1
            record("edit", device, commit.segment.head.sequence)
            try await committed(commit, by: device)
        } catch let error as StoreError {
            try checker.refused(error, by: device)
            counters.count(.refusedWrite)
        }
    }

    /// Several people at one laptop at the same moment: what they ask for shares one commit.
    func editTogether(_ device: Device, _ edits: [[PlannedEdit]]) async throws {
        guard canAct(device) else { return }
        let stampTime = device.stampTime(at: now)
        let store = device.store
        store.holdWrites()
        var writers: [Task<Result<EditResult, any Error>, Never>] = []
        for wishes in edits {
            guard let job = wishes.first.map({ jobs[$0.job] }) else { continue }
            let edits = wishes.map { $0.edit(in: plan) }
            writers.append(
                Task {
                    do {
                        return .success(
                            try await store.edit(job: job, createsJob: true, now: { stampTime }, edits))
                    } catch {
                        return .failure(error)
                    }
                })
            // One after the other, so that each run is the same.
            while store.waitingWriteCount < writers.count { await Task.yield() }
        }
        store.releaseWrites()
        counters.count(.groupCommit)
        var commits: [Commit] = []
        for writer in writers {
            do {
                if let commit = try await writer.value.get().commit { commits.append(commit) }
            } catch let error as StoreError {
                try checker.refused(error, by: device)
                counters.count(.refusedWrite)
            }
        }
        if !commits.isEmpty { counters.edits += 1 }
        try await committed(commits, by: device)
    }

    /// A spreadsheet is imported, a thousand rows at a time.
    func bulk(_ device: Device, job: Int, first: Int, count: Int) async throws {
        guard canAct(device) else { return }
        for start in stride(from: 0, to: count, by: 2_000) {
            let wishes = (start..<min(start + 2_000, count)).map { index in
                PlannedEdit(
                    job: job, item: first + index, number: first + index, kind: .set(fields: [0, 2]), text: .own)
            }
            try await edit(device, wishes)
            counters.count(.bulkEdit)
        }
    }

    /// A crew that was renewed often: as many journals of others, with a word in each.
    func crowd(_ device: Device, _ job: JobID, _ count: Int) async throws {
        guard canAct(device) else { return }
        var generator = SeededGenerator(seed: plan.seed ^ 0xc0_0d)
        let time = device.receiveTime(at: now)
        // They have met the office, which this device may not have.
        let anchor = office[job].head(of: .channel).sequence
        for index in 0..<count {
            let replica = ReplicaID.random(using: &generator)
            let stamp = Stamp(milliseconds: time.milliseconds, counter: 0)
            let name = Operation.set(field: JobProperty.author(replica), value: "laptop of old", replaces: [])
            let value = Operation.set(field: "room", value: "crowd \(index)", replaces: [])
            let changes = [
                Change(item: .job, stamp: stamp, anchor: anchor, operations: [name]),
                Change(
                    item: plan.item(300_000 + index / 2), stamp: stamp.next, anchor: anchor, operations: [value]),
            ]
            let bytes = changes.flatMap(ChangeCodec.encode)
            let head = try JournalDigest.extend(.empty, with: bytes)
            let segment = JournalSegment(replica: replica, first: 1, head: head, bytes: bytes)
            do {
                guard try await device.store.ingest(segment, job: job, now: time).result == .stored else { continue }
            } catch let error as StoreError {
                try checker.refused(error, by: device)
                return
            }
            counters.count(.crowd)
            try await checker.wroteForOthers(segment, of: job, by: device)
            add(.committed(job, segment), after: 0, to: device)
        }
    }
}

extension PlannedEdit {
    func edit(in plan: Plan) -> Edit {
        let item = item < 0 ? ItemID.job : plan.item(self.item)
        switch kind {
        case .set(let fields):
            let all = item == .job ? Plan.jobFields : Plan.fields
            return .put(
                item: item,
                fields: fields.map { Edit.FieldValue(field: all[$0 % all.count], value: text(in: all[$0 % all.count])) }
            )
        case .note: return .note(item: item, text: text(in: "notes"))
        case .remove: return .remove(item: item)
        }
    }
}
