/// When a record is worth a write to the disk.
extension ClockRecord {
    init(_ estimate: ClockEstimate, boot: String, wallDrift: Int64, floor: Int64) {
        self.init(
            boot: boot, offset: estimate.offset, uncertainty: estimate.uncertainty, stratum: estimate.stratum,
            measured: estimate.measured, source: estimate.source, wallDrift: wallDrift, floor: floor,
            isPlausible: estimate.isPlausible)
    }

    var estimate: ClockEstimate {
        ClockEstimate(
            offset: offset, uncertainty: uncertainty, measured: measured, stratum: stratum, source: source,
            isPlausible: isPlausible)
    }

    /// Somebody has set the wall clock.
    func hasOtherWall(than other: ClockRecord) -> Bool { abs(wallDrift - other.wallDrift) > 1_000_000 }

    /// The source has changed, the time has stepped, or what was kept has become clearly worse: by a quarter of a second, which
    /// takes some twenty minutes.
    func shouldPersist(after kept: ClockRecord, at elapsed: Int64) -> Bool {
        if source != kept.source || stratum != kept.stratum || boot != kept.boot || hasOtherWall(than: kept) {
            return true
        }
        // With a server behind the clock the floor follows it all the time.
        guard estimate.isSynchronised else {
            return offset != kept.offset || floor != kept.floor || isPlausible != kept.isPlausible
        }
        return estimate.contradicts(kept.estimate, at: elapsed)
            || kept.estimate.uncertainty(at: elapsed) > 2 * estimate.uncertainty(at: elapsed) + 250_000
    }
}
