import CRDT
import Logging
import Outbox
import ServerChannel

/// Who is on a job is told before anything else of it, both ways.
extension Gateway {
    /// Whether the server and this laptop know different things of who is on a job.
    func isAssignedApart(_ job: JobID) -> Bool {
        guard let assignments else { return false }
        return assignments.roster(of: job).fingerprint != held.assignments[job] ?? 0
    }

    /// Tells the server who is on these jobs, because requests of them are about to go to it: a job that a request opens there would
    /// be everybody's until the words come.
    ///
    /// - Returns: why it has not taken them, so that the requests have to wait; nil when it has.
    func tellAssignments(of jobs: [JobID]) async -> OutboxMachine.Reply? {
        for job in jobs where isAssignedApart(job) {
            do { try await exchangeAssignments(of: job) } catch {
                logger.info(
                    "who is on a job could not be told to the server", metadata: ["job": "\(job)", "error": "\(error)"])
                switch error {
                case let problem as ServerProblem:
                    return .tryAgain(status: problem.status, reason: "who is on the job: \(problem.sentence)")
                case let failure as RoundFailure: return failure.forOutbox
                default: return .tryAgain(status: nil, reason: "who is on the job could not be told")
                }
            }
        }
        return nil
    }

    /// Both tell each other what they know of who is on a job.
    func exchangeAssignments(of job: JobID) async throws {
        guard let assignments else { return }
        var theirs: [Assignment] = []
        do { theirs = try await server.assignments(of: job).get() } catch let problem as ServerProblem {
            // It knows no such job yet, or none that this laptop may know of.
            guard problem.code == .unknownJob else { throw problem }
        }
        var isTaken = true
        do {
            try await assignments.learn(theirs.filter { $0.job == job })
            await replicator.assigned([job])
        } catch {
            isTaken = false
            logger.warning(
                "what the server says of who is on a job is not taken",
                metadata: ["job": "\(job)", "reason": "\(error)"])
        }
        let known = Set(theirs)
        var mine = assignments.roster(of: job).statements.filter { !known.contains($0) }[...]
        while !mine.isEmpty {
            _ = try await server.bring(Array(mine.prefix(ChannelLimits.assignments))).get()
            mine = mine.dropFirst(ChannelLimits.assignments)
        }
        if isTaken { held.note(assignments: assignments.roster(of: job).fingerprint, of: job) }
    }
}
