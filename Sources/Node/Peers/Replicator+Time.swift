import CRDT
import Logging
import Replication
import Storage
import Timekeeping

/// What a source has said of the time.
///
/// One value rather than its parts: an async function with more arguments than fit the registers returned to a wrong place
/// (Swift 6.3.1 on x86-64).
struct ToldTime: Sendable {
    let exchange: TimeExchange
    /// Of the source's clock.
    let quality: ClockQuality
    let source: TimeSource
}

/// The time first, the work second (rule R5).
extension Replicator {
    /// A source has told the time.
    ///
    /// - Returns: whether the clock and the source's agree, as far as they have to.
    @discardableResult
    func learn(_ told: ToldTime) async -> Bool {
        let lesson = clock.learn(told.exchange, quality: told.quality, from: told.source)
        if let step = lesson.step {
            logger.notice(
                "the time was learned", metadata: ["source": "\(told.source)", "stepMilliseconds": "\(step)"])
        }
        for journal in await keep(lesson) {
            await perform(
                mesh.onRestamped(job: journal.job, replica: store.identity.replica, head: journal.head, now: now))
            itemsChanged(journal.job)
        }
        if lesson.isNews { lookForDueChanges() }
        return lesson.isSettled
    }

    /// Makes durable what follows from a lesson.
    ///
    /// - Returns: this device's journals that were stamped anew.
    private func keep(_ lesson: ClockKeeper.Lesson) async -> [Restamped] {
        guard lesson.step != nil || lesson.record != nil else { return [] }
        do {
            return try await store.restamp(
                milliseconds: lesson.step ?? 0, isSynchronised: lesson.isSynchronised, remembering: lesson.record)
        } catch {
            logger.error("what was learned of the time could not be kept", metadata: ["error": "\(error)"])
            return []
        }
    }

    /// A peer has answered a ping.
    func learn(_ told: ToldTime, on link: LinkID) async {
        let isSettled = await learn(told)
        guard remotes[link] != nil, !exposedLinks.contains(link) else { return }
        if isSettled || !mesh.isPatient(with: link, now: now) {
            await expose(link)
        } else {
            await perform(mesh.onTimeUnsettled(link, now: now))
        }
    }

    /// What this device has written may leave it over a link.
    private func expose(_ link: LinkID) async {
        exposedLinks.insert(link)
        do {
            try await store.beginExposure()
        } catch {
            logger.error("nothing can be shown to a peer", metadata: ["error": "\(error)"])
            close(link, "This device's store cannot be written.")
            return
        }
        await perform(mesh.onTimeLearned(link, now: now))
    }

    /// The last connection that could carry work away is gone: what is written from now on is unseen.
    func endExposure(of link: LinkID) {
        if exposedLinks.remove(link) != nil, exposedLinks.isEmpty { store.endExposure() }
    }

    // MARK: Held changes

    /// Items of a job have changed without a new transform.
    func itemsChanged(_ job: JobID) {
        observer.jobAdvanced(job, vector: mesh.vector(of: job), applied: [])
    }

    /// Held changes may be due, or there are new ones.
    nonisolated func lookForDueChanges() {
        dueOccasion.yield()
    }
}
