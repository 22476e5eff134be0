import CRDT
import Logging
import Replication
import Storage
import Timekeeping

/// The time first, the work second (rule R5).
extension Replicator {
    /// A source has told the time.
    ///
    /// - Returns: whether the clock and the source's agree, as far as they have to.
    @discardableResult
    func learn(_ exchange: TimeExchange, quality: ClockQuality, from source: TimeSource) async -> Bool {
        let lesson = clock.learn(exchange, quality: quality, from: source)
        do {
            if let step = lesson.step {
                logger.notice(
                    "the time was learned",
                    metadata: ["source": "\(source)", "stepMilliseconds": "\(step)"])
                let journals = try await store.restamp(
                    milliseconds: step, isSynchronised: lesson.isSynchronised, remembering: lesson.record)
                for journal in journals { await restamped(journal) }
            } else if let record = lesson.record {
                try await store.keep(record)
            }
        } catch {
            logger.error("what was learned of the time could not be kept", metadata: ["error": "\(error)"])
        }
        if lesson.isNews { lookForDueChanges() }
        return lesson.isSettled
    }

    private func restamped(_ journal: Restamped) async {
        await perform(
            mesh.onRestamped(job: journal.job, replica: store.identity.replica, head: journal.head, now: now))
        itemsChanged(journal.job)
    }

    /// A peer has answered a ping.
    func learn(_ exchange: TimeExchange, quality: ClockQuality, from device: DeviceID, on link: LinkID) async {
        let isSettled = await learn(exchange, quality: quality, from: .peer(device.description))
        guard remotes[link] != nil, !exposedLinks.contains(link) else { return }
        guard isSettled || !mesh.isPatient(with: link, now: now) else {
            return await perform(mesh.onTimeUnsettled(link, now: now))
        }
        exposedLinks.insert(link)
        do {
            try await store.beginExposure()
            await perform(mesh.onTimeLearned(link, now: now))
        } catch {
            logger.error("a peer cannot be shown anything", metadata: ["error": "\(error)"])
            close(link, "This device's store cannot be written.")
        }
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
