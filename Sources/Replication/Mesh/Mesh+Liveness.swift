import CRDT

/// Who has gone without a word is found out: at leisure while nobody waits for it, soon while somebody does.
extension Mesh {
    /// Something has changed around a device: it moved to another address, or is no longer announced. A connection with
    /// it may be dead without knowing it.
    ///
    /// - Parameter shortID: as the device announces itself, `DeviceID.short`.
    package mutating func onLivenessHint(about shortID: String, now: UInt64) -> [LinkDirective] {
        establishedLinks.filter { links[$0]?.hello?.device.short == shortID }.flatMap { suspect($0, now: now) }
    }

    /// This link has to give a sign of life soon.
    mutating func suspect(_ link: LinkID, now: UInt64) -> [LinkDirective] {
        // Doubts that follow one another do not put the end off.
        if links[link]?.suspicion == nil {
            links[link]?.suspicion = Suspicion(since: now, until: now + timing.suspicionLimit)
        }
        // The first ping is under way still: its answer is what the link waits for.
        return links[link]?.isEstablished ?? false ? [ping(link, now: now)] : []
    }

    /// The laptop was asleep, perhaps for long: its peers may have given it up, and the network may be another one. Every link
    /// has to give a sign of life at once. That nothing was heard meanwhile is nobody's fault.
    package mutating func onResumed(now: UInt64) -> [LinkDirective] {
        links.keys.sorted().flatMap { id -> [LinkDirective] in
            links[id]?.lastHeard = now
            links[id]?.awaited = nil
            links[id]?.suspicion = Suspicion(since: now, until: now + timing.resumeLimit)
            return links[id]?.greeted == nil ? [] : [ping(id, now: now)]
        }
    }

    // MARK: While something waits

    /// A peer was sent what it has to answer: a request, or a run to acknowledge.
    mutating func awaitAnswer(from id: LinkID, now: UInt64) {
        let before = links[id]?.awaited
        links[id]?.awaited = AwaitedAnswer(
            until: now + timing.awaitedPeriod, lastSign: before?.lastSign ?? now, probedAt: before?.probedAt)
    }

    /// Links of which something is awaited and nothing was heard for a while, or whose time is up: the shell says what it knows of
    /// them, with `onSign`, before it calls `onTimer`.
    package func doubtfulLinks(now: UInt64) -> [LinkID] {
        links.values.filter { isQuiet($0, now: now) || $0.suspicion.map { $0.until <= now } ?? false }.map(\.id)
            .sorted()
    }

    private func isQuiet(_ link: MeshLink, now: UInt64) -> Bool {
        link.awaited.map { $0.lastSign + timing.awaitedProbeDelay <= now } ?? false
    }

    /// When something is to be done about who owes an answer: it is asked for a sign of life, or given up.
    func due(_ awaited: AwaitedAnswer) -> UInt64 {
        guard let probedAt = awaited.probedAt else { return awaited.lastSign + timing.awaitedProbeDelay }
        return probedAt + timing.awaitedSilenceLimit - timing.awaitedProbeDelay
    }

    /// Less than a message has come of a peer at this time: a part of one, or its machine has acknowledged bytes. So a slow
    /// link is told from a dead one.
    package mutating func onSign(of id: LinkID, at time: UInt64) {
        // What came before it was asked says nothing of now.
        if let suspicion = links[id]?.suspicion, suspicion.since <= time { links[id]?.suspicion = nil }
        guard let awaited = links[id]?.awaited, awaited.lastSign < time else { return }
        links[id]?.awaited?.lastSign = time
        links[id]?.awaited?.probedAt = nil
    }

    /// Whether the peer owes an answer still. Looks at all open jobs: not to be asked with each message.
    private func isAwaited(_ id: LinkID) -> Bool {
        guard let link = links[id] else { return false }
        return link.fetchCount > 0 || searches.values.contains { $0.link == id }
            || link.jobs.values.contains { $0.isUnderWay }
    }

    mutating func checkAwaited(now: UInt64) -> [LinkDirective] {
        var directives: [LinkDirective] = []
        for id in links.keys.sorted() {
            guard let link = links[id], let awaited = link.awaited, isQuiet(link, now: now) else { continue }
            if now >= awaited.until || !isAwaited(id) {
                links[id]?.awaited = nil
            } else if awaited.probedAt != nil, due(awaited) <= now {
                directives.append(refuse(id, Self.silenceReason))
                postponeCheck(of: id, now: now)
                links[id]?.awaited = nil
            } else if awaited.probedAt == nil {
                links[id]?.awaited?.probedAt = now
                // Its answer tells no time: the question may have waited behind much else.
                directives.append(.send(.ping(now), on: id))
            }
        }
        return directives
    }

    // MARK: Silence

    /// Why a link is closed whose peer seems to have gone: nobody is there to be told.
    package static let silenceReason = "Nothing was heard for too long."

    mutating func checkSilence(now: UInt64) -> [LinkDirective] {
        var directives: [LinkDirective] = []
        for id in links.keys.sorted() {
            guard let link = links[id] else { continue }
            let isSuspect = link.suspicion.map { $0.until <= now } ?? false
            if isSuspect || now >= link.lastHeard + timing.silenceLimit {
                directives.append(refuse(id, Self.silenceReason))
                postponeCheck(of: id, now: now)
            } else if now >= link.lastPing + timing.pingInterval {
                directives.append(link.isEstablished ? ping(id, now: now) : refuse(id, link.missing))
                postponeCheck(of: id, now: now)
            }
        }
        return directives
    }

    /// A link that was told to close may take a while: the timer must not stand still in the meantime.
    private mutating func postponeCheck(of link: LinkID, now: UInt64) {
        links[link]?.lastPing = now
        links[link]?.suspicion = nil
    }
}
