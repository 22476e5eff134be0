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
    /// How far corrected time may be off; null before there was a source.
    @Nullable package var uncertaintyMilliseconds: Double?
    /// Since the measurement that counts; null before there was a source.
    @Nullable package var ageSeconds: Double?
    /// Corrected time.
    package var time: Timestamp
    /// Changes from the future, the first that is due first.
    package var held: [HeldChange]

    package init(
        source: ClockStatus.Source, isSynchronised: Bool, isShared: Bool, stratum: Int? = nil,
        driftMilliseconds: Double? = nil, uncertaintyMilliseconds: Double? = nil, ageSeconds: Double? = nil,
        time: Timestamp, held: [HeldChange] = []
    ) {
        self.source = source
        self.isSynchronised = isSynchronised
        self.isShared = isShared
        self.stratum = stratum
        self.driftMilliseconds = driftMilliseconds
        self.uncertaintyMilliseconds = uncertaintyMilliseconds
        self.ageSeconds = ageSeconds
        self.time = time
        self.held = held
    }
}

/// A change that is in its journal and passed on, but not applied before its time comes.
package struct HeldChange: Codable, Hashable, Sendable {
    /// The job's full id.
    package var job: String
    @Nullable package var jobName: String?
    package var item: String
    /// The author's replica id, 32 hexadecimal digits.
    package var by: String
    /// The author's host, if known.
    @Nullable package var byName: String?
    /// In the author's journal.
    package var sequence: UInt64
    /// What the author's clock said.
    package var at: Timestamp
    /// When it is applied, by corrected time.
    package var dueAt: Timestamp

    package init(
        job: String, jobName: String? = nil, item: String, by: String, byName: String? = nil, sequence: UInt64,
        at: Timestamp, dueAt: Timestamp
    ) {
        self.job = job
        self.jobName = jobName
        self.item = item
        self.by = by
        self.byName = byName
        self.sequence = sequence
        self.at = at
        self.dueAt = dueAt
    }
}
