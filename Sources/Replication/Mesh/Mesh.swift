package import CRDT

/// How a device keeps its journals the same as those of the devices that it is connected to.
///
/// A value: each `on…` takes what happened and the time, and returns what is to be done. Anti-entropy by version
/// vectors (pull) brings a new link up to date; afterwards new transforms are pushed along a tree and announced
/// elsewhere (Leitão, Pereira and Rodrigues, "Epidemic Broadcast Trees", 2007). Nothing is relayed or acknowledged
/// before it is durable (rule R4).
///
/// Times are milliseconds of any clock that never goes back.
package struct Mesh: Sendable {
    /// Who this laptop says it is in its next hello; `onRenewed` alone changes it.
    package private(set) var device: DeviceID
    /// The name of this store's own journals: whoever holds more of one than this store proves that it was set back
    /// (rule R9).
    package private(set) var replica: ReplicaID
    let instance: UInt64
    let name: String
    let timing: MeshTiming
    /// One number for all revocations that this laptop knows of. The shell sets it whenever they may have changed.
    package var revocations: UInt64

    /// Who is on the jobs of which that was said.
    var rosters: [JobID: JobRoster] = [:]
    /// This laptop is the office's: peers tell it of every job.
    package var seesAllJobs = false
    /// Which laptop has written a journal, where that is known.
    package var authors: [ReplicaID: DeviceID] = [:]
    var links: [LinkID: MeshLink] = [:]
    var jobs: [JobID: JobProgress] = [:]
    var fetches: [JournalName: Fetch] = [:]
    var grafts = Grafts()
    var searches: [JournalName: ForkSearch] = [:]
    var fingerprints = JobFingerprints()
    /// Jobs that have grown since the peers in the tree, and those outside it, were last told.
    var unacknowledgedJobs: Set<JobID> = []
    var unannouncedJobs: Set<JobID> = []
    var isRenewing = false
    var renewalLimit = RenewalLimit()
    /// Apart: a store that was set back a moment ago may be one of two copies, too, and both are cut off until one renews itself.
    var deviceRenewalLimit = RenewalLimit()
    /// When acknowledgements, announcements and a retry after a failed write are due.
    var acknowledgementsDue: UInt64?
    var announcementsDue: UInt64?
    var storeRetryDue: UInt64?

    /// Begins without connections, with what the store holds durably.
    ///
    /// - Parameters:
    ///   - instance: random per start; tells a copy of this device from a connection with itself.
    ///   - name: the host's, at most `ProtocolLimits.nameBytes` long.
    ///   - jobs: every job with its vector, also those that are removed.
    ///   - removals: of the removed ones among `jobs`; any other is passed over.
    ///   - rosters: who is on the jobs of which that was said.
    ///   - revocations: one number for all that are known.
    package init(
        device: DeviceID, replica: ReplicaID, instance: UInt64, name: String,
        jobs: [(job: JobID, vector: VersionVector)], removals: [(job: JobID, removal: JobRemoval)] = [],
        rosters: [(job: JobID, roster: JobRoster)] = [], revocations: UInt64 = 0, timing: MeshTiming = MeshTiming()
    ) {
        self.device = device
        self.replica = replica
        self.instance = instance
        self.name = name
        self.timing = timing
        self.revocations = revocations
        for (job, vector) in jobs {
            self.jobs[job] = JobProgress(vector: vector)
            fingerprints.changed(job)
        }
        for (job, removal) in removals { self.jobs[job]?.removal = removal }
        for (job, roster) in rosters {
            self.rosters[job] = roster
            fingerprints.changed(job)
        }
    }

    /// When `onTimer` wants to be called next. To be asked after every stimulus, also one that returns nothing.
    package var nextDeadline: UInt64? {
        // It is asked after everything that happens: no lists are made for it.
        var first = UInt64.max
        for due in [acknowledgementsDue, announcementsDue, storeRetryDue, renewalDue] {
            first = min(first, due ?? .max)
        }
        for fetch in fetches.values { first = min(first, fetch.deadline) }
        first = min(first, grafts.nextDue ?? .max)
        for search in searches.values { first = min(first, search.deadline) }
        for link in links.values {
            first = min(first, link.suspicion?.until ?? .max)
            if let awaited = link.awaited { first = min(first, due(awaited)) }
            first = min(first, link.learning?.askAgainDue ?? .max)
            // One timer for all pings, so that many links cost one wake-up.
            first = min(first, link.lastPing + timing.pingInterval)
        }
        return first == .max ? nil : first
    }

    /// Does what is due. To be called at `nextDeadline`; a call that comes early does no harm.
    package mutating func onTimer(now: UInt64) -> [UpkeepDirective] {
        let round = roundDue(now: now)
        var directives = [UpkeepDirective](checkSilence(now: now) + checkAwaited(now: now) + askAgain(now: now))
        if storeRetryDue.map({ $0 <= now }) ?? false {
            storeRetryDue = nil
            wantAll()
        }
        if acknowledgementsDue.map({ $0 <= now }) ?? false {
            acknowledgementsDue = nil
            directives += tellAdvances(onLazyLinks: false)
        }
        if announcementsDue.map({ $0 <= now }) ?? false {
            announcementsDue = nil
            directives += tellAdvances(onLazyLinks: true)
        }
        directives += [UpkeepDirective](renewIfDue(now: now))
        directives += expireFetches(now: now)
        directives += graftOverdue(now: now)
        directives += expireSearches(now: now)
        for id in round {
            directives += searchLeftForks(on: id, now: now)
            directives += sweep(id)
        }
        directives += fetchMissing(now: now)
        return directives
    }

    /// The links that it is time to look at anyway: with each ping.
    private func roundDue(now: UInt64) -> [LinkID] {
        establishedLinks.filter { id in links[id].map { $0.lastPing + timing.pingInterval <= now } ?? false }
    }

    /// This store has become a new replica, and maybe a new device.
    package mutating func onRenewed(device: DeviceID, replica: ReplicaID, now: UInt64) -> [LinkDirective] {
        isRenewing = false
        renewalLimit.renewed(now: now, interval: timing.renewalInterval)
        self.replica = replica
        let isNewDevice = device != self.device
        if isNewDevice { deviceRenewalLimit.renewed(now: now, interval: timing.renewalInterval) }
        self.device = device
        // Peers know this device by its old name: they meet it anew.
        if isNewDevice { return greetedLinks.map { .close($0, reason: "This device has got a new name.") } }
        // What was this store's own journal may be asked for now.
        wantAll()
        return fetchMissing(now: now)
    }

    /// When this store becomes a new replica because of a peer's word that came too soon after another one, or while the
    /// store failed; nil when no such word stands.
    package var renewalDue: UInt64? {
        guard !isRenewing, let due = renewalLimit.due else { return nil }
        return max(due, storeRetryDue ?? 0)
    }

    private mutating func renewIfDue(now: UInt64) -> RenewalDirective? {
        guard let due = renewalDue, due <= now, let reason = renewalLimit.owed else { return nil }
        isRenewing = true
        return .renewReplica(replica, reason: reason)
    }

    /// The store could not become a new replica: it tries again.
    package mutating func onRenewalFailed(now: UInt64) {
        isRenewing = false
        storeRetryDue = now + timing.storeRetryDelay
    }

    var establishedLinks: [LinkID] {
        links.values.filter(\.isEstablished).map(\.id).sorted()
    }

    var greetedLinks: [LinkID] {
        links.values.filter { $0.greeted != nil }.map(\.id).sorted()
    }

    // By id: a copy of a link that is held while the link changes would make the change copy all that it knows.

    func isEager(_ link: LinkID, job: JobID) -> Bool {
        !(links[link]?.jobs[job]?.isLazy ?? false)
    }

    func isCongested(_ link: LinkID) -> Bool {
        links[link]?.isCongested ?? false
    }
}
