package import CRDT

/// One job between a laptop and the server, until both hold the same journals: a value that says what is next.
///
/// Each directive is answered with the function that it names, which gives the next one. Whoever carries it out may stop
/// at any of them: the next session begins with a comparison again.
package struct ServerSyncSession: Sendable {
    /// A journal, and the sequence after which it is fetched or brought.
    package typealias Place = SyncPlan.TransferTask

    /// What is to be done next. Each case says which function takes what came of it.
    package enum Directive: Hashable, Sendable {
        /// Look at the own vector and then ask for the server's, in this order: what comes here meanwhile must not look as
        /// if the server lacked it. `onVectors`.
        case compare
        /// End the job here, as the server says: `onRemoval`.
        case takeRemoval(JobRemoval)
        /// Tell the server that the job has ended: `onRemoval`.
        case bringRemoval(JobRemoval)
        /// Ask the server for what follows: `onFetched`.
        case fetch(Place)
        /// Make it durable here: `onTaken`.
        case take(JournalSegment)
        /// See to it that what is here may be shown: `onExposed`.
        case expose
        /// Read as much as one upload takes: `onLoaded`.
        case load(Place)
        /// `onUploaded` or `onRefused`.
        case upload([JournalSegment])
        /// The server's branch of a forked journal stays. Ask for it, `onFetched`, as `fetch`.
        case fetchBranch(Place)
        /// Put it in the place of the own one: `onGaveWay`.
        case giveWay(JournalSegment, after: UInt64)
        case finished(Ending)
    }

    /// How a session has ended.
    package enum Ending: Hashable, Sendable {
        /// Both sides hold the same, unless the server has another channel of the same length: see `isServerBehind`.
        case settled
        /// There is more to do another time: something grew meanwhile, or may not be shown yet.
        case unfinished
        /// The server did not take a journal; the others are settled as far as they could be.
        case refused
    }

    /// Why the server did not take a run.
    package enum Refusal: Error, Hashable, Sendable {
        /// It holds the journal only up to here, if it said so.
        case gap(held: UInt64?)
        /// It has another content: after a sequence, or from before the run on.
        case forked(agreed: UInt64?)
        /// It does not take its own words from others.
        case ownJournal
        case other
    }

    private enum Step: Hashable, Sendable {
        case fetch(Place)
        case giveBack(Place)
        case expose
        case upload(Place)
    }

    /// How often both sides are compared: whoever still writes is met in the next round.
    private static let comparisons = 3

    /// Only this journal is brought; nil for everything, both ways.
    private let only: ReplicaID?
    /// Of a job that this laptop is not on its own journals alone are looked at.
    package let looksAgain: Bool
    /// Everything is compared, the server's own journal among it.
    package var isWhole: Bool { only == nil }
    private var left = Self.comparisons
    private var steps: [Step] = []
    private var current: Step?
    private var segments: [JournalSegment] = []
    private var wasRefused = false
    /// Whether the server's own words were offered to it before the end of the job, and are being offered.
    private var hasOffered = false
    private var hasBroughtRemoval = false
    /// This laptop is not on the job, as the server says.
    package private(set) var isOwnOnly = false
    /// Nothing was brought, because nothing may be shown yet.
    package private(set) var wasWithheld = false
    private var isOffering = false
    /// What went with the job: of a journal nothing before that can be read any more.
    private var removed = VersionVector()
    /// The server holds less of its own journal than this laptop, or another content: it has been set back, or it is not the one
    /// that said what is held here.
    package private(set) var isServerBehind = false
    /// The server has taken its own words back.
    package private(set) var hasGivenBack = false

    /// Begins a session that brings one journal, or moves everything both ways where none is named.
    ///
    /// - Parameter looksAgain: everything was brought before; only what the server says it holds of this laptop's own is compared.
    package init(only: ReplicaID? = nil, looksAgain: Bool = false) {
        self.only = only
        self.looksAgain = looksAgain
    }

    /// Gives the first directive, a comparison.
    package func begin() -> Directive { .compare }

    /// Answers `compare`. What has ended on one side only is told first, then journals move.
    ///
    /// - Parameters:
    ///   - here: looked at before the server was asked.
    ///   - server: empty for a job that the server does not know.
    package mutating func onVectors(here: JobHoldings, server: JobHoldings) -> Directive {
        left -= 1
        isOffering = false
        // First: what went with the job is nowhere to be had, and need not be brought.
        if let removal = server.removal, !here.knows(removal) { return .takeRemoval(removal) }
        // Of a job that this laptop is not on the server does not say that it knows of the end: once is enough.
        if let removal = here.removal, !server.knows(removal), !(server.isOwnOnly && (hasBroughtRemoval || looksAgain))
        {
            hasBroughtRemoval = true
            return giveBackFirst(removal, here: here.vector, server: server.vector) ?? .bringRemoval(removal)
        }
        removed = here.removal?.heads ?? VersionVector()
        guard server.isOwnOnly else { return onVectors(here: here.vector, server: server.vector) }
        noteOwnOnly()
        let compared = here.vector.entries.filter {
            $0.replica != .channel && (!looksAgain || server.vector[$0.replica].sequence > 0)
        }
        return onVectors(here: VersionVector(compared), server: server.vector)
    }

    /// A server that was set back may have to write what the removal takes, behind its own words: it needs those before.
    ///
    /// - Returns: nil when it lacks none that can still be read here, or they have been offered.
    private mutating func giveBackFirst(
        _ removal: JobRemoval, here: VersionVector, server: VersionVector
    ) -> Directive? {
        let after = server[.channel].sequence
        guard !hasOffered, here[.channel].sequence > after, after >= removal.heads[.channel].sequence else {
            return nil
        }
        hasOffered = true
        isServerBehind = true
        isOffering = true
        left += 1
        steps = [.giveBack(Place(replica: .channel, after: after))]
        return next()
    }

    /// - Parameter isDone: false when it could not be told, or not be made durable.
    package mutating func onRemoval(_ isDone: Bool) -> Directive {
        guard isDone, left > 0 else { return .finished(isDone ? .unfinished : .refused) }
        return .compare
    }

    /// The server says no more than what it holds of this laptop's own journals. That is the same the next time, whatever is brought, so
    /// all is brought once; and what the server itself has said of the job is none of this laptop's business.
    private mutating func noteOwnOnly() {
        isOwnOnly = true
        isServerBehind = false
        left = 0
    }

    private mutating func onVectors(here: VersionVector, server: VersionVector) -> Directive {
        if let only {
            left = 0
            steps = [.expose, .upload(Place(replica: only, after: server[only].sequence))]
            return next()
        }
        let plan = SyncPlan(here: here, server: server)
        isServerBehind = plan.isServerBehind
        guard !plan.isEmpty else { return .finished(wasRefused ? .refused : .settled) }
        steps = plan.fetches.map { .fetch($0) }
        if let place = plan.channelUpload { steps.append(.giveBack(place)) }
        let uploads = plan.uploads + plan.forks.map { start(of: $0) }
        if !uploads.isEmpty { steps.append(.expose) }
        steps += uploads.map { .upload($0) }
        return next()
    }

    private mutating func next() -> Directive {
        guard !steps.isEmpty else {
            current = nil
            guard left > 0, !wasRefused else { return .finished(wasRefused ? .refused : .unfinished) }
            return .compare
        }
        let step = steps.removeFirst()
        current = step
        switch step {
        case .fetch(let place): return .fetch(place)
        case .expose: return .expose
        case .giveBack(let place), .upload(let place): return .load(place)
        }
    }

    // MARK: Down

    /// - Parameter segments: of the journal that was asked for, in their order; none at its end.
    package mutating func onFetched(_ segments: [JournalSegment]) -> Directive {
        switch current {
        case .fetch(let place):
            guard let last = segments.last, last.head.sequence > place.after else { return next() }
            self.segments = segments
            return takeNext()
        case .upload(let place):
            guard let branch = segments.first else { return next() }
            return .giveWay(branch, after: place.after)
        case .giveBack, .expose, nil: return next()
        }
    }

    /// Answers `take`. A forked journal comes last in the round: the server says which branch stays (rule R9). Its own
    /// is left to people.
    package mutating func onTaken(_ result: IngestResult) -> Directive {
        guard case .fetch(var place) = current, !segments.isEmpty else { return next() }
        switch result {
        case .stored, .duplicate: break
        case .gap, .ownFuture, .malformed, .forged, .unvouched, .failed: return next()
        case .forked:
            // The server says where both part and which stays, once it is brought what is here; last, since one that was
            // set back does not say so before it has its own words again. Its own journal is forked only then: that is
            // for people.
            isServerBehind = isServerBehind || place.replica == .channel
            if place.replica != .channel {
                steps += [.expose, .upload(start(of: place.replica))]
            }
            return next()
        }
        place.after = segments.removeFirst().head.sequence
        current = .fetch(place)
        return segments.isEmpty ? .fetch(place) : takeNext()
    }

    private mutating func takeNext() -> Directive {
        segments.first.map { .take($0) } ?? next()
    }

    // MARK: Up

    /// - Parameter isExposed: false when nothing may be shown yet (rule R5): then nothing is brought.
    package mutating func onExposed(_ isExposed: Bool) -> Directive {
        guard !isExposed else { return next() }
        wasWithheld = true
        steps = []
        left = 0
        return next()
    }

    /// - Parameter segments: what follows the place, in its order; none at the journal's end.
    package mutating func onLoaded(_ segments: [JournalSegment]) -> Directive {
        guard !segments.isEmpty else { return next() }
        self.segments = segments
        return .upload(segments)
    }

    /// Answers `upload`: the server holds all of the runs durably.
    ///
    /// - Parameter held: what it says that it holds by now.
    package mutating func onUploaded(_ held: JobHoldings = JobHoldings()) -> Directive {
        if held.isOwnOnly { noteOwnOnly() }
        guard let last = segments.last?.head.sequence, let place else { return next() }
        if place.replica == .channel { hasGivenBack = true }
        return load(after: last)
    }

    /// Answers `upload`: the server has not taken all of the runs, and says why.
    package mutating func onRefused(_ refusal: Refusal) -> Directive {
        guard let place else { return next() }
        switch refusal {
        case .gap(let held?) where held < place.after: return load(after: held)
        case .forked(let agreed?) where place.replica != .channel:
            let branch = Place(replica: place.replica, after: agreed)
            current = .upload(branch)
            return .fetchBranch(branch)
        // They part before what was sent: from the beginning, then.
        case .forked(nil) where place.replica != .channel && place.after > start(of: place.replica).after:
            return load(after: start(of: place.replica).after)
        case .ownJournal where place.replica == .channel: return next()
        case .gap, .forked, .ownJournal, .other:
            // The end of the job is told all the same.
            wasRefused = wasRefused || !isOffering
            return next()
        }
    }

    /// Answers `giveWay`, whether it has succeeded or not: the next comparison shows it.
    package mutating func onGaveWay() -> Directive { next() }

    /// Where what is left of a journal begins.
    private func start(of replica: ReplicaID) -> Place {
        Place(replica: replica, after: removed[replica].sequence)
    }

    private var place: Place? {
        switch current {
        case .giveBack(let place), .upload(let place): place
        case .fetch, .expose, nil: nil
        }
    }

    private mutating func load(after sequence: UInt64) -> Directive {
        guard var place else { return next() }
        place.after = sequence
        current = place.replica == .channel ? .giveBack(place) : .upload(place)
        return .load(place)
    }
}
