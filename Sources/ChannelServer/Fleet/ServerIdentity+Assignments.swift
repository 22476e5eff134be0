import CRDT
import Identity
import ServerChannel
import Storage
import Synchronization

/// Who is on which job.
extension ServerIdentity {
    /// Who is on a job; it is everybody's as long as nobody has said so.
    func roster(of job: JobID) -> JobRoster { assignments.withLock { $0[job] } }

    /// Takes what a laptop says of who is on jobs; when this returns it is durable and in force.
    ///
    /// - Returns: those that were news.
    /// - Throws: `ChannelProblem` when nobody who may has signed one of them: then none is taken.
    func learn(_ statements: [Assignment], at time: UInt64) async throws -> [Assignment] {
        guard let trust else { return [] }
        let news: [Assignment]
        do throws(AssignmentRefusal) {
            news = try await assignments.withLock { $0 }
                .news(in: statements, of: trust, now: TimeBounds(Int64(clamping: time), within: 0))
        } catch {
            throw ChannelProblem(.outsider, error.sentence)
        }
        guard !news.isEmpty else { return [] }
        try await store.keepAssignments(news, of: trust.root.key.bytes)
        assignments.withLock { log in
            for statement in news { _ = log.add(statement) }
        }
        return news
    }

    /// What was kept of this fleet: it was judged when it came.
    func readAssignments() async throws {
        guard let trust else { return }
        var known = AssignmentLog()
        for statement in try await store.follow(trust.root.key.bytes) { _ = known.add(statement) }
        assignments.withLock { [known] in $0 = known }
    }
}
