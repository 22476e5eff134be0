import CRDT
import ServerChannel
import Storage

/// Who is on a job is told of it, and so is the office; whoever else asks is answered as if there were none. What anybody has
/// written is taken from them.
extension ChannelService {
    /// - Throws: `ChannelProblem` when the caller must not be told of the job.
    func check(_ job: JobID, for access: JobAccess) async throws {
        guard try await mayReceive(job, access) else { throw Self.unknown }
    }

    private static var unknown: ChannelProblem { ChannelProblem(.unknownJob, "The server has no such job.") }

    func mayReceive(_ job: JobID, _ access: JobAccess) async throws -> Bool {
        let roster = identity.roster(of: job)
        // In its grace it goes on with the jobs in which it has written.
        let holds = access.isInGrace ? try await !ownJournals(of: access, in: job).isEmpty : true
        return access.mayReceive(roster, holds: holds)
    }

    private func ownJournals(of access: JobAccess, in job: JobID) async throws -> Set<ReplicaID> {
        do { return try await store.journals(of: access.device, in: job) } catch let error as StoreError
            where error.code == .unknownJob
        { return [] }
    }

    /// The same, cut down to what the caller may be told.
    func tellable(_ held: JobHoldings, of job: JobID, to access: JobAccess) async throws -> JobHoldings {
        guard try await !mayReceive(job, access) else { return held }
        let own = try await ownJournals(of: access, in: job)
        var told = JobHoldings(vector: VersionVector(held.vector.entries.filter { own.contains($0.replica) }))
        told.isOwnOnly = true
        return told
    }

    /// How far the journals of a job are held, as far as the caller may be told; its own it may always.
    func holdings(of job: JobID, for access: JobAccess) async throws -> JobHoldings {
        let told = try await tellable(try await store.holdings(of: job), of: job, to: access)
        let knows = !told.vector.entries.isEmpty || identity.roster(of: job).names(access.device)
        guard !told.isOwnOnly || knows else { throw Self.unknown }
        return told
    }

    /// - Throws: `ChannelProblem` when the caller may not have the journal, which is not its own.
    func checkJournal(_ replica: ReplicaID, of job: JobID, for access: JobAccess) async throws {
        guard try await !mayReceive(job, access) else { return }
        guard try await ownJournals(of: access, in: job).contains(replica) else { throw Self.unknown }
    }

    /// What was said of who is on a job, for those who may be told of it, and for those of whom it was said.
    func statements(of job: JobID, for access: JobAccess) async throws -> [Assignment] {
        let roster = identity.roster(of: job)
        if roster.names(access.device) { return roster.statements }
        // Of a job that there is not the same is said as of one that the caller must not know of.
        if !roster.isAssigned { _ = try await store.vector(of: job) }
        if try await mayReceive(job, access) { return roster.statements }
        guard try await !ownJournals(of: access, in: job).isEmpty else { throw Self.unknown }
        return roster.statements
    }

    /// - Throws: `ChannelProblem` for a reader, who ends nothing and takes nothing back.
    func checkThatItWrites(_ access: JobAccess) throws(ChannelProblem) {
        guard access.mayWrite else {
            throw ChannelProblem(.outsider, "The fleet has let this laptop in to look only; ask on another one.")
        }
    }

    /// Takes what a laptop says of who is on jobs.
    ///
    /// - Returns: those that were news.
    func assign(_ statements: [Assignment]) async throws -> [Assignment] {
        let news = try await identity.learn(statements, at: now.received.milliseconds)
        for job in Set(news.map(\.job)) { hub.changed(job) }
        return news
    }
}
