import Replication

/// Who is still there.
extension Replicator {
    /// The laptop was asleep and is awake: everybody is asked for a sign of life, and whoever is not connected is dialled.
    package func resumed() {
        perform(mesh.onResumed(now: now))
        plan.onResumed(now: now)
        dialDue()
    }

    /// What the connections know of peers that keep others waiting, which is more than their messages tell.
    func noteSigns() async {
        for link in mesh.doubtfulLinks(now: now) {
            guard let quiet = await links?.quietMilliseconds(of: link) else { continue }
            mesh.onSign(of: link, at: now - min(now, quiet))
        }
    }
}
