import Authorship
import CRDT
import Logging
package import Replication
import Storage
import Transport

/// A carried file is a link whose peer has said all that it will say: who may say what is judged by the same functions, and what comes goes
/// the way of what peers bring. Only that nobody can be asked: what would be asked for is left, and named.
extension Replicator {
    /// A file as it is read.
    struct Carried: Sendable {
        let device: DeviceID
        var heard = HeardAuthors()
        /// Wait to be stored together.
        var runs: [IncomingRun] = []
        var runBytes = 0
        /// Journals that the file has told of: as many as a link may.
        var journals: Set<JournalKey> = []
        /// Of which one run did not fit; what follows in them cannot, either.
        var left: Set<JournalKey> = []
        var report = CarriedReport()
    }

    /// One journal of one job.
    struct JournalKey: Hashable, Sendable {
        let job: JobID
        let replica: ReplicaID
    }

    /// As much goes into one flush.
    private static let flushBytes = 2 * JournalSegment.usualBytes
    /// Beyond all connections, which count from 1.
    private static let firstCarried: UInt64 = 1 << 63

    /// Begins with a file whose writer was let in as a peer would be.
    package func beginCarried(from hello: Hello) async throws(CarryStop) -> LinkID {
        guard hello.isUnderstood else {
            throw CarryStop(
                sentence: "The file is of another version of Muster; update the older laptop, and carry out again.")
        }
        guard hello.device != mesh.device else {
            throw CarryStop(sentence: "This laptop has written the file itself; take it in on another one.")
        }
        await noteFleet()
        mesh.seesAllJobs = access(of: mesh.device).seesAllJobs
        noteRevocations()
        if fleet?.isShutOut(hello.device) ?? false { throw CarryStop(sentence: Mesh.revokedReason) }
        carriedFiles += 1
        let link = LinkID(number: Self.firstCarried + carriedFiles)
        var remote = Remote(address: "a carried file", dialled: nil)
        remote.peer = hello
        remotes[link] = remote
        carried[link] = Carried(device: hello.device)
        fleet?.met(hello.device, name: hello.name)
        logger.info(
            "a carried file is taken in", metadata: ["device": "\(hello.device.short)", "name": "\(hello.name)"])
        return link
    }

    /// The next message of it, in its order.
    package func takeCarried(_ message: Message, on link: LinkID) async throws(CarryStop) {
        switch message {
        case .delta(let job, let segment, _): try await take(segment, of: job, on: link)
        case .revocations(let entries): try await takeRevocations(entries, on: link)
        case .assignments(let statements):
            try await flushCarried(link)
            try await takeAssignments(statements, on: link)
        case .vector(let job, let vector, let end):
            try await flushCarried(link)
            if let end { await take(end, of: job, holding: vector, on: link) }
        default: throw CarryStop(sentence: "The file says what no file says; carry out again.")
        }
        // As a link ends whose peer is revoked meanwhile, be it by what it has brought itself.
        if let device = carried[link]?.device, fleet?.isShutOut(device) ?? false {
            throw CarryStop(sentence: Mesh.revokedReason)
        }
    }

    /// Stores what still waits, and forgets the file.
    ///
    /// - Returns: what has come in, also where reading was stopped before.
    package func endCarried(_ link: LinkID) async -> (report: CarriedReport, stop: CarryStop?) {
        var stop: CarryStop?
        do throws(CarryStop) { try await flushCarried(link) } catch { stop = error }
        let report = carried.removeValue(forKey: link)?.report ?? CarriedReport()
        remotes[link] = nil
        return (report, stop)
    }

    // MARK: Words

    private func takeRevocations(_ entries: [[UInt8]], on link: LinkID) async throws(CarryStop) {
        guard let fleet else { return }
        do throws(LinkRefusal) {
            guard let news = try await fleet.learnRevocations(entries) else { return }
            carried[link]?.report.words += news.entries.count
            await announce(news, from: link)
        } catch { throw CarryStop(sentence: error.description) }
    }

    private func takeAssignments(_ statements: [Assignment], on link: LinkID) async throws(CarryStop) {
        guard let assignments else { return }
        let before = Set(statements.map(\.job)).map { (job: $0, words: assignments.roster(of: $0).fingerprint) }
        do throws(AssignmentObstacle) {
            try await assignments.learn(statements)
        } catch {
            guard case .unsigned = error else { throw CarryStop(sentence: error.description, isOwn: true) }
            if let job = statements.first?.job { noteForgery(by: link, error.description, of: job) }
            throw CarryStop(sentence: error.description)
        }
        carried[link]?.report.words += before.count { assignments.roster(of: $0.job).fingerprint != $0.words }
        announce(statements.map(\.job), from: link)
    }

    private func take(_ end: ToldEnd, of job: JobID, holding vector: VersionVector, on link: LinkID) async {
        guard let device = carried[link]?.device else { return }
        switch mesh.verdict(on: end, of: job, by: access(of: device), holding: vector) {
        case .noNews: return
        case .taken:
            let isTaken = await takeRemoval(end.removal, of: job, from: link)
            if isTaken {
                carried[link]?.report.jobs[job, default: .init()].hasEnded = true
            } else {
                refuse("Its end could not be taken.", of: job, on: link)
            }
        case .barred:
            noteRefusedEnd(of: job, from: link)
            refuse("Its end is not taken: the laptop that says so is not on the job.", of: job, on: link)
        case .otherWords:
            refuse(
                "Its end is not taken: the laptop that says so goes by other words about who is on the job.", of: job,
                on: link)
        }
    }

    private func refuse(_ sentence: String, of job: JobID, on link: LinkID) {
        carried[link]?.report.jobs[job, default: .init()].refuse(sentence)
    }

    // MARK: Journals

    private func take(_ segment: JournalSegment, of job: JobID, on link: LinkID) async throws(CarryStop) {
        let key = JournalKey(job: job, replica: segment.replica)
        guard let complete = carried[link]?.heard.complete(segment) else { return }
        carried[link]?.journals.insert(key)
        guard carried[link]?.journals.count ?? 0 <= MeshLimits.entriesPerLink else {
            throw CarryStop(sentence: "The file tells of too many journals; carry out fewer jobs at once.")
        }
        guard carried[link]?.left.contains(key) == false else { return }
        if mesh.showsOtherOwn(complete, of: job) {
            try await flushCarried(link)
            try await proveOwn(complete, of: job, on: link)
            // Who has another name by now takes it as another's.
            guard complete.replica != mesh.replica else {
                carried[link]?.left.insert(key)
                return refuse("What it shows of this laptop's own journal is not what is here.", of: job, on: link)
            }
        }
        carried[link]?.runs.append(IncomingRun(job: job, segment: complete))
        carried[link]?.runBytes += complete.bytes.count
        if carried[link]?.runBytes ?? 0 >= Self.flushBytes { try await flushCarried(link) }
    }

    /// Rule R9, as over a link: only what this store's own key has signed gives it another name.
    private func proveOwn(_ segment: JournalSegment, of job: JobID, on link: LinkID) async throws(CarryStop) {
        guard (try? await store.hasSigned(segment, of: job)) ?? false else {
            let reason = "What was shown as this laptop's own work was not signed by it."
            noteForgery(by: link, reason, of: job)
            throw CarryStop(sentence: reason)
        }
        await perform(SearchDirective.checkProof(job, segment, from: link))
    }

    private func flushCarried(_ link: LinkID) async throws(CarryStop) {
        guard let runs = carried[link]?.runs, !runs.isEmpty else { return }
        carried[link]?.runs = []
        carried[link]?.runBytes = 0
        let outcomes = await outcomes(of: runs)
        preconditionIsolated()
        // What is stored is told of, also behind what ends the reading.
        var stop: CarryStop?
        for (run, ingested) in zip(runs, outcomes) {
            let reason = await tell(of: run, ingested, on: link)
            stop = stop ?? reason
        }
        perform(noteRenewal())
        if let stop { throw stop }
    }

    /// - Returns: why nothing more is read, where a link would be closed.
    private func tell(of run: IncomingRun, _ ingested: Ingested, on link: LinkID) async -> CarryStop? {
        let (job, segment) = (run.job, run.segment)
        // What follows what was left cannot fit, either.
        let isLeft = carried[link]?.left.contains(JournalKey(job: job, replica: segment.replica)) ?? true
        guard ingested.result == .stored || !isLeft else { return nil }
        switch ingested.result {
        case .stored:
            let news = ingested.news ?? segment
            noteAuthor(of: ingested.news)
            carried[link]?.heard.forget(segment)
            carried[link]?.report.jobs[job, default: .init()].changes += news.head.sequence - news.first + 1
            if let author = news.author {
                carried[link]?.report.jobs[job, default: .init()].authors.insert(author.device)
            }
            perform(mesh.onCommitted(news, job: job, now: now))
            advanced(job, applied: ingested.applied, concernsOutbox: ingested.hasStatements)
            if let ended = ingested.ended {
                carried[link]?.report.jobs[job, default: .init()].hasEnded = true
                await jobEnded(job, ended)
            }
        case .duplicate: break
        case .gap(let held):
            leave(
                run,
                "A journal goes on after \(segment.first - 1), and here it ends at \(held.sequence): carry out again, everything.",
                on: link)
        case .forked(let held):
            // What does not lead on from nothing was altered: nobody else's branch is here.
            guard held != .empty else {
                let reason = "A piece of a journal does not have the digest that the file claims."
                noteForgery(by: link, reason, of: job)
                return CarryStop(sentence: reason)
            }
            leave(run, "A journal has another content here; that is settled when the laptops meet.", on: link)
        case .ownFuture: leave(run, "It knows a later part of this laptop's own journal.", on: link)
        case .unvouched: leave(run, "A journal is of nobody whom the fleet lets write.", on: link)
        case .forged(let reason):
            noteForgery(by: link, reason, of: job)
            return CarryStop(sentence: reason)
        case .malformed(let reason): return CarryStop(sentence: "A piece of a journal is malformed: \(reason).")
        case .failed:
            return CarryStop(
                sentence: "This laptop could not store it; see 'muster doctor', and carry in again.", isOwn: true)
        }
        return nil
    }

    private func leave(_ run: IncomingRun, _ sentence: String, on link: LinkID) {
        carried[link]?.left.insert(JournalKey(job: run.job, replica: run.segment.replica))
        refuse(sentence, of: run.job, on: link)
    }
}
