package import Replication

/// Which connections there is room for. A value; the registry carries out what it decides.
///
/// What this device dials has room of its own, so that nobody who fills the port from outside can cut it off from its
/// crew. What comes in is half-open until its peer has gone through the whole greeting. Of those there are few, and a
/// newer one takes the place of the oldest: an idle connection is worth less than one that may be a colleague's.
package struct Admission: Sendable {
    /// Why there is no room; the raw values stand in logs.
    package enum Refusal: String, Error, CustomStringConvertible {
        case full = "too many connections"
        case tooManyFromSource = "too many connections from one address"
        case tooManyDials = "too many connections were dialled"
        case stopping = "this daemon is stopping"

        /// The raw value, which is half a sentence.
        package var description: String { rawValue }
    }

    /// What becomes of a new connection.
    package enum Verdict: Hashable, Sendable {
        /// One that was half-open has to go for it.
        case admitted(evicted: LinkID?)
        case refused(Refusal)
    }

    private struct Incoming {
        let source: String
        /// It has said something that a peer would say.
        var hasSpoken = false
    }

    private let limits: ConnectionLimits
    private var dialled: Set<LinkID> = []
    private var halfOpen: [LinkID: Incoming] = [:]
    /// By source address.
    private var proved: [LinkID: String] = [:]

    /// Begins without a connection.
    package init(limits: ConnectionLimits) {
        self.limits = limits
    }

    /// Counts a connection that this device has dialled; no other has to go for it.
    package mutating func admitDialled(_ link: LinkID) -> Verdict {
        guard dialled.count < limits.dialled else { return .refused(.tooManyDials) }
        dialled.insert(link)
        return .admitted(evicted: nil)
    }

    /// - Parameter source: the address at the other end, without its port.
    package mutating func admitIncoming(_ link: LinkID, from source: String) -> Verdict {
        if let refusal = refusal(of: source) { return .refused(refusal) }
        var evicted: LinkID?
        if halfOpen.values.count(where: { $0.source == source }) >= limits.halfOpenPerSource {
            evicted = leastWorthy(from: [source])
        } else if halfOpen.count >= limits.halfOpen {
            evicted = leastWorthy(from: fullestSources)
        }
        if let evicted { halfOpen[evicted] = nil }
        halfOpen[link] = Incoming(source: source)
        return .admitted(evicted: evicted)
    }

    /// A half-open link has sent its first message: among those of its source, and of sources with as many, it is evicted last.
    package mutating func spoke(_ link: LinkID) {
        halfOpen[link]?.hasSpoken = true
    }

    /// Its peer has gone through the whole greeting.
    ///
    /// - Returns: why it has to go all the same.
    package mutating func proved(_ link: LinkID) -> Refusal? {
        guard let incoming = halfOpen.removeValue(forKey: link) else { return nil }
        if let refusal = refusal(of: incoming.source) { return refusal }
        proved[link] = incoming.source
        return nil
    }

    /// A link has ended, however far it had come: its room is free.
    package mutating func left(_ link: LinkID) {
        dialled.remove(link)
        halfOpen[link] = nil
        proved[link] = nil
    }

    private func refusal(of source: String) -> Refusal? {
        if proved.count >= limits.incoming { return .full }
        return proved.values.count { $0 == source } >= limits.incomingPerSource ? .tooManyFromSource : nil
    }

    /// Who is flooding has the most; or many that look alike, each with an address of its own.
    private var fullestSources: Set<String> {
        let counts = Dictionary(grouping: halfOpen.values, by: \.source).mapValues(\.count)
        let most = counts.values.max()
        return Set(counts.filter { $0.value == most }.keys)
    }

    /// The oldest one that has said nothing, or else the oldest.
    private func leastWorthy(from sources: Set<String>) -> LinkID? {
        let candidates = halfOpen.filter { sources.contains($0.value.source) }
        return candidates.filter { !$0.value.hasSpoken }.keys.min() ?? candidates.keys.min()
    }
}
