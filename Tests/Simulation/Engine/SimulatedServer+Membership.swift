import CRDT
import Replication
import ServerChannel
import Storage

/// Who is on a job is told of it, and so is the office; as the program around the store does.
extension SimulatedServer {
    func mayReceive(_ job: JobID, _ device: DeviceID) -> Bool {
        guard let assignments else { return true }
        return assignments.access(of: device).mayReceive(assignments.roster(of: job), holds: true)
    }

    private static var unknown: ChannelProblem { ChannelProblem(.unknownJob, "No such job.") }

    func check(_ job: JobID, for device: DeviceID) throws {
        guard mayReceive(job, device) else { throw Self.unknown }
    }

    private func ownJournals(of device: DeviceID, in job: JobID) async throws -> Set<ReplicaID> {
        do { return try await store.journals(of: device, in: job) } catch let error as StoreError
            where error.code == .unknownJob
        { return [] }
    }

    /// What of it the laptop may be told.
    func tellable(_ held: JobHoldings, of job: JobID, to device: DeviceID) async throws -> JobHoldings {
        guard !mayReceive(job, device) else { return held }
        let own = try await ownJournals(of: device, in: job)
        var told = JobHoldings(vector: VersionVector(held.vector.entries.filter { own.contains($0.replica) }))
        told.isOwnOnly = true
        return told
    }

    func holdings(of job: JobID, for device: DeviceID) async throws -> JobHoldings {
        let told = try await tellable(try await store.holdings(of: job), of: job, to: device)
        let knows = !told.vector.entries.isEmpty || assignments?.roster(of: job).names(device) ?? false
        guard !told.isOwnOnly || knows else { throw Self.unknown }
        return told
    }

    func checkJournal(_ place: JournalPlace, for device: DeviceID) async throws {
        guard !mayReceive(place.job, device) else { return }
        guard try await ownJournals(of: device, in: place.job).contains(place.replica) else { throw Self.unknown }
    }

    func jobs(since cursor: String?, for device: DeviceID) async throws -> JobChangeList {
        guard let assignments else { return try await jobs(since: cursor) }
        let limit = ChannelLimits.entries
        var page = try await store.jobChanges(since: cursor, limit: limit)
        let isFromStart = page.isFromStart
        var entries: [JobChangeList.Entry] = []
        while true {
            for change in page.changes {
                let roster = assignments.roster(of: change.job)
                let isFor = mayReceive(change.job, device)
                guard isFor || roster.names(device) else { continue }
                entries.append(
                    JobChangeList.Entry(
                        job: change.job, channel: isFor ? change.head : 0, fingerprint: isFor ? change.fingerprint : 0,
                        assignments: roster.fingerprint, isOwnOnly: !isFor))
            }
            guard !page.changes.isEmpty, entries.count < limit else { break }
            page = try await store.jobChanges(since: page.cursor, limit: limit - entries.count)
        }
        return JobChangeList(entries: entries, cursor: page.cursor, isFromStart: isFromStart)
    }

    func statements(of job: JobID, for device: DeviceID) async throws -> [Assignment] {
        guard let assignments else { return [] }
        let roster = assignments.roster(of: job)
        if roster.names(device) { return roster.statements }
        if !roster.isAssigned { _ = try await store.vector(of: job) }
        if mayReceive(job, device) { return roster.statements }
        guard try await !ownJournals(of: device, in: job).isEmpty else { throw Self.unknown }
        return roster.statements
    }

    func assign(_ statements: [Assignment]) async throws -> [Assignment] {
        try await assignments?.take(statements) ?? []
    }
}
