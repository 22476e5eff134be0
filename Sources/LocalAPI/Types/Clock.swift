package import HTTPCoding

/// What `muster clock` shows: how this laptop tells the time (rules R5 and R6).
package struct ClockReport: Codable, Hashable, Sendable {
    /// Where the time comes from.
    package var source: ClockStatus.Source
    /// Whether a server stands behind the source, directly or by way of other laptops.
    package var isSynchronised: Bool
    /// Whether other laptops go by the same time.
    package var isShared: Bool
    /// How many laptops the server's time passed through: 1 from the server itself; null without a server behind it.
    @Nullable package var stratum: Int?
    /// The wall clock minus corrected time; null before there was a source.
    @Nullable package var driftMilliseconds: Double?
    /// How far corrected time may be off, either way; null without a server behind it.
    @Nullable package var uncertaintyMilliseconds: Double?
    /// Since the measurement that counts; null before there was a source.
    @Nullable package var ageSeconds: Double?
    /// Corrected time.
    package var time: Timestamp
    /// What is stamped later than it can be, by job and author.
    package var future: [FutureWork]

    /// Of a clock without a source all four numbers that may be nil are nil.
    package init(
        source: ClockStatus.Source, isSynchronised: Bool, isShared: Bool, stratum: Int? = nil,
        driftMilliseconds: Double? = nil, uncertaintyMilliseconds: Double? = nil, ageSeconds: Double? = nil,
        time: Timestamp, future: [FutureWork] = []
    ) {
        self.source = source
        self.isSynchronised = isSynchronised
        self.isShared = isShared
        self.stratum = stratum
        self.driftMilliseconds = driftMilliseconds
        self.uncertaintyMilliseconds = uncertaintyMilliseconds
        self.ageSeconds = ageSeconds
        self.time = time
        self.future = future
    }
}
