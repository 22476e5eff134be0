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
    package private(set) var device: DeviceID
    package private(set) var replica: ReplicaID
    let instance: UInt64
    let name: String
    let fleet: String
    let timing: MeshTiming

    var links: [LinkID: Link] = [:]
    var jobs: [JobID: JobProgress] = [:]
    var fetches: [JournalName: Fetch] = [:]
    var grafts: [JournalName: Graft] = [:]
    var searches: [JournalName: ForkSearch] = [:]
    var isRenewing = false
    /// When acknowledgements, announcements and a retry after a failed write are due.
    var acknowledgementsDue: UInt64?
    var announcementsDue: UInt64?
    var storeRetryDue: UInt64?

    /// A journal that a link outside the tree has announced and the tree has not brought yet.
    struct Graft: Sendable {
        let link: LinkID
        let due: UInt64
    }

    package init(
        device: DeviceID, replica: ReplicaID, instance: UInt64, name: String, fleet: String,
        jobs: [(job: JobID, vector: VersionVector)], timing: MeshTiming = MeshTiming()
    ) {
        self.device = device
        self.replica = replica
        self.instance = instance
        self.name = name
        self.fleet = fleet
        self.timing = timing
        for (job, vector) in jobs { self.jobs[job] = JobProgress(vector: vector) }
    }

    /// When `onTimer` wants to be called next.
    package var nextDeadline: UInt64? {
        // It is asked after everything that happens: no lists are made for it.
        var first = UInt64.max
        for due in [acknowledgementsDue, announcementsDue, storeRetryDue] { first = min(first, due ?? .max) }
        for fetch in fetches.values { first = min(first, fetch.deadline) }
        for graft in grafts.values { first = min(first, graft.due) }
        for search in searches.values { first = min(first, search.deadline) }
        for link in links.values {
            first = min(first, link.suspectedUntil ?? .max)
            first = min(first, link.pingAgainDue ?? .max)
            // One timer for all pings, so that many links cost one wake-up.
            first = min(first, link.lastPing + timing.pingInterval)
        }
        return first == .max ? nil : first
    }

    package mutating func onTimer(now: UInt64) -> [Directive] {
        // Telling what has grown comes due twenty times a second, and needs no look at what everybody has.
        let mustLook = isWorkDue(now: now)
        let isRound = isRoundDue(now: now)
        var directives = checkSilence(now: now) + askAgain(now: now)
        if storeRetryDue.map({ $0 <= now }) ?? false { storeRetryDue = nil }
        if acknowledgementsDue.map({ $0 <= now }) ?? false {
            acknowledgementsDue = nil
            directives += tellAdvances(onLazyLinks: false)
        }
        if announcementsDue.map({ $0 <= now }) ?? false {
            announcementsDue = nil
            directives += tellAdvances(onLazyLinks: true)
        }
        directives += expireFetches(now: now)
        directives += graftOverdue(now: now)
        directives += expireSearches(now: now)
        if isRound { directives += searchLeftForks(now: now) }
        return mustLook ? directives + fetchMissing(now: now) : directives
    }

    /// Whether something that was waited for has not come, or it is time to look at the links anyway.
    private func isWorkDue(now: UInt64) -> Bool {
        storeRetryDue.map { $0 <= now } ?? false || fetches.values.contains { $0.deadline <= now }
            || grafts.values.contains { $0.due <= now } || searches.values.contains { $0.deadline <= now }
            || isRoundDue(now: now)
    }

    private func isRoundDue(now: UInt64) -> Bool {
        links.values.contains { $0.lastPing + timing.pingInterval <= now }
    }

    /// This store has become a new replica, and maybe a new device.
    package mutating func onRenewed(device: DeviceID, replica: ReplicaID, now: UInt64) -> [Directive] {
        isRenewing = false
        self.replica = replica
        let isNewDevice = device != self.device
        self.device = device
        // Peers know this device by its old name: they meet it anew.
        if isNewDevice { return greetedLinks.map { .close($0, reason: "This device has got a new name.") } }
        return fetchMissing(now: now)
    }

    /// The store could not become a new replica: the proof that it has to will be asked for again.
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
