import Replication

/// One timer for everything that the mesh waits for.
extension Replicator {
    /// How often what the peers hold is written down, in milliseconds.
    private static let noteInterval: UInt64 = 600_000

    func scheduleTimer() {
        let deadline = mesh.nextDeadline
        // A timer that fires early costs one wake-up; making a new one for each message costs far more.
        if let deadline, let waited = timer.deadline, waited <= deadline { return }
        timer.set(deadline, on: machine) { [weak self] in await self?.timerFired() }
    }

    func timerFired() async {
        guard timer.begins() else { return }
        await perform(mesh.onTimer(now: now))
        // Any timer will do: with peers there is one every few seconds, without them there is nothing to note.
        if now >= lastNoted + Self.noteInterval { noteAll() }
    }
}
