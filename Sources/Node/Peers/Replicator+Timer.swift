import Replication

/// One timer for everything that the mesh waits for.
extension Replicator {
    func scheduleTimer() {
        let deadline = mesh.nextDeadline
        // A timer that fires early costs one wake-up; making a new one for each message costs far more.
        if timer != nil, let deadline, let timerDeadline, timerDeadline <= deadline { return }
        timer?.cancel()
        timer = nil
        timerDeadline = deadline
        guard let deadline else { return }
        let delay = deadline - min(deadline, now)
        timer = Task { [weak self] in
            guard (try? await Task.sleep(for: .milliseconds(Int(delay)))) != nil else { return }
            await self?.timerFired()
        }
    }

    func timerFired() async {
        guard !Task.isCancelled else { return }
        timer = nil
        await perform(mesh.onTimer(now: now))
    }
}
