/// The last eight answers of one source (RFC 5905 section 10).
///
/// The one with the lowest delay tells the time best, because what is unknown is how the delay falls on the two ways. An
/// answer loses worth with its age, at the rate at which clocks drift apart.
struct ClockFilter: Sendable {
    static let size = 8
    private(set) var samples: [ClockEstimate] = []

    /// - Returns: false for an answer that is not newer than the last one; it changes nothing.
    mutating func add(_ sample: ClockEstimate) -> Bool {
        if let newest = samples.last, sample.measured <= newest.measured { return false }
        if samples.count == Self.size { samples.removeFirst() }
        samples.append(sample)
        return true
    }

    /// What was heard before is void: the source's clock has stepped.
    mutating func keepNewest() {
        samples = Array(samples.suffix(1))
    }

    var newest: Int64 { samples.last?.measured ?? 0 }

    /// The sample that is worth most now.
    func best(at elapsed: Int64) -> ClockEstimate? {
        samples.min { ($0.uncertainty(at: elapsed), $1.measured) < ($1.uncertainty(at: elapsed), $0.measured) }
    }
}

/// A filter per source; of more sources than any crew has, those that were silent longest are forgotten.
struct ClockFilters: Sendable {
    static let limit = 64
    private var filters: [TimeSource: ClockFilter] = [:]

    subscript(source: TimeSource) -> ClockFilter {
        get { filters[source] ?? ClockFilter() }
        set { filters[source] = newValue.samples.isEmpty ? nil : newValue }
    }

    /// As `ClockFilter.add`.
    mutating func add(_ sample: ClockEstimate, from source: TimeSource) -> Bool {
        guard filters[source, default: ClockFilter()].add(sample) else { return false }
        if filters.count > Self.limit,
            let silent = filters.min(by: { ($0.value.newest, $0.key) < ($1.value.newest, $1.key) })
        {
            filters[silent.key] = nil
        }
        return true
    }
}
