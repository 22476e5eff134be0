import Engine
import HTTPCoding
import LocalAPI
import Timekeeping

/// How this laptop tells the time.
extension InventoryService {
    func clockReport() async throws -> ClockReport {
        try await answering {
            let overview = clock.overview
            let isKnown = overview.source != nil
            return ClockReport(
                source: ClockStatus.Source(overview.source), isSynchronised: overview.isSynchronised,
                isShared: overview.source != nil || overview.stratum <= ClockQuality.shownStratum,
                stratum: overview.isSynchronised ? Int(overview.stratum) : nil,
                driftMilliseconds: isKnown ? milliseconds(overview.drift) : nil,
                uncertaintyMilliseconds: overview.knownUncertainty.map(milliseconds),
                ageSeconds: overview.age.map { Double($0) / 1_000_000 },
                time: Timestamp(milliseconds: overview.time / 1000),
                future: try await futureWork())
        }
    }

    /// The same in short, for `status`.
    var clockStatus: ClockStatus {
        let overview = clock.overview
        return ClockStatus(
            source: ClockStatus.Source(overview.source), isSynchronised: overview.isSynchronised,
            driftMilliseconds: overview.source == nil ? nil : milliseconds(overview.drift),
            uncertaintyMilliseconds: overview.knownUncertainty.map(milliseconds))
    }

    /// From microseconds, to a thousandth.
    private func milliseconds(_ microseconds: Int64) -> Double { Double(microseconds) / 1000 }
}

extension ClockStatus.Source {
    init(_ source: TimeSource?) {
        switch source {
        case .server: self = .server
        case .peer: self = .peer
        case nil: self = .none
        }
    }
}

extension ClockOverview {
    /// Nil when nobody can say.
    var knownUncertainty: Int64? { uncertainty < ClockQuality.unknownUncertainty ? uncertainty : nil }
}
