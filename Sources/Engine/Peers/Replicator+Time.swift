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
    package func learn(_ sample: TimeSample) async -> Bool {
        let update = clock.hear(sample)
        do {
            if let step = update.stepMilliseconds {
                try await adopt(sample, stepping: step)
            } else if let record = update.record {
                try await store.keep(record)
            }
        } catch {
            logger.error("what was learned of the time could not be kept", metadata: ["error": "\(error)"])
            return false
        }
        return update.isSettled
    }

    /// The clock steps, and what nobody has seen with it.
    private func adopt(_ sample: TimeSample, stepping milliseconds: Int64) async throws {
        // One after another: of two that overlap the disk may speak of the later one first, and the mesh would go on with
        // the earlier.
        await untilStepIsTold()
        isStepToTell = true
        defer {
            isStepToTell = false
            for waiting in waitingForStep { waiting.resume() }
            waitingForStep = []
        }
        logger.notice(
            "the time was learned",
            metadata: ["source": "\(sample.source)", "stepMilliseconds": "\(milliseconds)"])
        for journal in try await store.restamp(taking: { [clock] in clock.adopt(sample) }) {
            mesh.onRestamped(job: journal.job, replica: journal.replica, head: journal.head, now: now)
            scheduleTimer()
            itemsChanged(journal.job)
        }
    }

    /// A peer has answered a ping.
    func learn(_ sample: TimeSample, on link: LinkID) async {
        let isSettled = await learn(sample)
        guard remotes[link] != nil, !exposedLinks.contains(link) else { return }
        if isSettled || !mesh.isPatient(with: link, now: now) {
            await expose(link)
        } else {
            mesh.onTimeUnsettled(link, now: now)
            scheduleTimer()
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
        await untilStepIsTold()
        perform(mesh.onTimeLearned(link, now: now))
    }

    /// To be awaited between the beginning of an exposure and the first byte of it, and before the mesh is told of what takes
    /// the place of work that a step may have shifted.
    ///
    /// A step may have shifted work whose commit the mesh has not been told of yet, as the disk was slow to say so. If the
    /// commit came first it would be shown as it was before the step. After the beginning of an exposure nothing is shifted.
    func untilStepIsTold() async {
        while isStepToTell { await withCheckedContinuation { waitingForStep.append($0) } }
    }

    /// The last connection that could carry work away is gone: what is written from now on is unseen.
    func endExposure(of link: LinkID) {
        if exposedLinks.remove(link) != nil { endExposureIfUnused() }
    }

    /// Nothing carries work away any more: neither a connection nor a file that is being written.
    func endExposureIfUnused() {
        if exposedLinks.isEmpty, !isServerExposed, carriers == 0 { store.endExposure() }
    }

    /// Items of a job have changed without a new transform.
    func itemsChanged(_ job: JobID) {
        advanced(job)
    }
}
