import Replication

/// One timer for everything that the mesh waits for.
extension Replicator {
    /// How often what the peers hold is written down, in milliseconds.
    private static let noteInterval: UInt64 = 600_000

    func scheduleTimer() {
        timer.set(mesh.nextDeadline, on: machine) { [weak self] in await self?.timerFired() }
    }

    func timerFired() async {
        guard timer.begins() else { return }
        await noteSigns()
        await perform(mesh.onTimer(now: now))
        // Any timer will do: with peers there is one every few seconds, without them there is nothing to note.
        if now >= lastNoted + Self.noteInterval { noteAll() }
    }
}
