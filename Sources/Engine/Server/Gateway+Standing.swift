import CRDT
import Logging
import ServerChannel

/// What does not fit between the server's words here and there, which is for people.
extension Gateway {
    func noteServer(isBehind: Bool, in job: JobID) async {
        let words = isBehind ? await unlikeWords(of: job) : .fit
        guard standing.note(words, in: job) else { return }
        switch words {
        case .fit: break
        case .behind:
            logger.warning(
                "the server holds less of its channel than this device, or another one: it was set back",
                metadata: ["job": "\(job)"])
        case .foreign:
            logger.warning(
                "this device holds another server's words, from before it joined its fleet: what the server says is not taken",
                metadata: ["job": "\(job)"])
        }
    }

    private func unlikeWords(of job: JobID) async -> ServerStanding.Words {
        guard await replicator.holdsForeignWords(of: job) else { return .behind }
        // More than that nobody can tell while it stays so.
        if standing.foreign.contains(job) { return .foreign }
        // It may be the same one, which has joined since: its certificates come with what it says.
        // One that has said nothing of the job yet has lost nothing, as far as can be told.
        guard let said = try? await fetch(JournalPlace(job: job, replica: .channel, after: 0)), !said.isEmpty else {
            return standing.behind.contains(job) ? .behind : .fit
        }
        let unvouched = await replicator.unvouched(among: said)
        guard said.contains(where: { !unvouched.contains($0) }) else { return .behind }
        return await replicator.holdsForeignWords(of: job) ? .foreign : .behind
    }
}
