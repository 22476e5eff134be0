import CRDT
import Engine
import Inventory
import LocalAPI
import LocalAPIServer
import Outbox
import Replication
import Storage

/// Jobs as a whole.
extension InventoryService {
    func jobs(named name: String?) async throws -> [JobListEntry] {
        try await answering {
            var entries: [JobListEntry] = []
            for job in try await store.jobs() where name.map({ $0 == job.name }) ?? true {
                if job.isRemoved, try await store.lateChanges(of: job.id).isEmpty { continue }
                entries.append(
                    JobListEntry(
                        id: job.id.text, name: job.name, kind: job.kind, state: try await shownState(of: job.id),
                        isRemoved: job.isRemoved,
                        items: job.items,
                        removed: job.removed, conflicts: try await conflictCount(of: job),
                        updatedAt: try await store.lastStamp(of: job.id)?.timestamp))
            }
            return entries
        }
    }

    func createJob(_ request: CreateJobRequest) async throws -> Identified {
        try await answering {
            let name = try Self.jobName(request.name)
            var generator = machine.generator
            var id = JobID(ItemID(milliseconds: nowMilliseconds, using: &generator))
            if let text = request.id {
                guard let given = JobID(text) else {
                    throw APIError(
                        .invalidValue,
                        "'\(text)' is no job id; use 1 to \(JobID.longest) of A–Z a–z 0–9 . _ - and no dot first.")
                }
                guard (try? await store.job(given)) == nil else {
                    throw APIError(.jobExists, "Job \(given) is here already; 'muster job show \(given)' shows it.")
                }
                id = given
            }
            let kind = request.kind ?? .inventory
            if let laptops = request.laptops {
                guard !laptops.isEmpty else {
                    throw APIError(.invalidValue, "Name the laptops that are to receive the job.")
                }
                try await assignNew(id, to: laptops)
            }
            let properties = [
                Edit.FieldValue(field: JobProperty.kind, value: kind.rawValue),
                Edit.FieldValue(field: JobProperty.name, value: name),
            ]
            var batch = MutationBatch(job: id)
            batch.createsJob = true
            batch.edits = [.put(item: .job, fields: properties)]
            // Who has no server leaves it to the first who asks for a state.
            if facts.configuration.server != nil { batch.add(OpenJob(name: name, kind: kind), using: &generator) }
            _ = try await ask(batch)
            return Identified(id: id.text)
        }
    }

    func job(_ text: String, makesDigest: Bool) async throws -> JobDetails {
        try await answering {
            let job = try await resolve(job: text)
            let totals = try await store.totals(of: job.id)
            let digest = try await makesDigest ? store.digest(of: job.id) : store.knownDigest(of: job.id)
            let overlay = try await overlay(of: job.id)
            let connected = await replicator.peers(of: job.id)
            let behind = connected.filter { $0.behind > 0 }.map { peer in
                PeerBehind(
                    deviceID: peer.peer.device.description, name: peer.peer.name,
                    transforms: Int(clamping: peer.behind))
            }
            let isApart = connected.contains { $0.behind > 0 || $0.ahead > 0 }
            let sync: SyncState = connected.isEmpty ? .notConnected : isApart ? .catchingUp : .inSync
            var details = JobDetails(
                id: job.id.text, name: job.name, kind: job.kind, state: ShownState(overlay),
                signature: Signature(overlay), isRemoved: job.isRemoved, items: job.items,
                removed: job.removed,
                volume: Volume(totals.cubicFeet),
                conflicts: job.conflicts + totals.duplicateBarcodes,
                late: try await store.lateChanges(of: job.id).count,
                peersBehind: behind, sync: sync, membership: membership(of: job.id), vector: job.vector.sequences,
                digest: digest?.text,
                updatedAt: try await store.lastStamp(of: job.id)?.timestamp)
            // Of what was read first: if something has come since, the tag fits nothing any more.
            details.entityTag = job.tag
            return details
        }
    }

    func summary(job text: String) async throws -> VolumeReport {
        try await answering {
            let job = try await living(text).id
            for _ in 0..<Self.summaryAttempts {
                let digest = try await store.digest(of: job).text
                let summary = try await volumeSummary(of: job)
                if try await store.digest(of: job).text == digest { return VolumeReport(summary, digest: digest) }
            }
            throw APIError(.unavailable, "The inventory changes all the time; try again when the crew has paused.")
        }
    }

    /// What is added up and its digest have to be of one inventory, since people sign for it.
    private static let summaryAttempts = 5

    private func volumeSummary(of job: JobID) async throws -> VolumeSummary {
        var summary = VolumeSummary()
        let cursor = try store.itemCursor(of: job)
        while let batch = try await cursor.next() {
            for item in batch where item.state.removed == nil { summary.add(item.id) { item.state.value(of: $0) } }
        }
        return summary
    }

    func log(job text: String, item: String?) async throws -> Batches<ChangeReport> {
        try await answering {
            let job = try await resolve(job: text)
            var id: ItemID?
            if let item { id = try await resolve(item: item, job: job.id, findsRemoved: true).id }
            let cursor = try await store.timeline(of: job.id, item: id)
            let reporter = ChangeReporter(job: job)
            return Batches {
                while let lines = try await cursor.next() {
                    let told = lines.filter { !$0.entry.isPreamble }
                    if !told.isEmpty {
                        var reporter = reporter
                        reporter.wishes = await store.wishes(told.flatMap(\.entry.decisions), in: job.id)
                        return told.map { reporter.report($0.entry, label: $0.item?.label, by: $0.person) }
                    }
                }
                return nil
            }
        }
    }
}

extension TimelineEntry {
    /// A replica only says which laptop it is on: nothing that people did.
    var isPreamble: Bool {
        item == .job && notes.isEmpty && !isRemoval && decisions.isEmpty
            && settings.allSatisfy { JobProperty.isAuthor($0.field) }
    }
}

extension Change {
    /// What people decided and the server said: nothing else of that kind is told.
    var isOfStatements: Bool { operations.allSatisfy(\.isStatement) }

    /// As `TimelineEntry.isPreamble`.
    var isPreamble: Bool {
        item == .job
            && operations.allSatisfy { operation in
                if case .set(let field, _, _) = operation { JobProperty.isAuthor(field) } else { operation.isStatement }
            }
    }
}

extension VersionVector {
    /// As the API writes it.
    var sequences: [String: UInt64] {
        Dictionary(uniqueKeysWithValues: entries.map { ($0.replica.description, $0.head.sequence) })
    }
}

extension Volume {
    init(_ cubicFeet: Thousandths) {
        let cubicMetres = cubicFeet.scaled(by: 28_316_846_592, over: 1_000_000_000_000)
        self.init(cubicFeet: cubicFeet.double, cubicMetres: cubicMetres.double)
    }
}
