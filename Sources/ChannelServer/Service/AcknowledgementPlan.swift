/// When to say in the channel what has been uploaded to one job: a value without a clock, in milliseconds of any.
///
/// An entry of the channel goes to everybody and stays. So the first upload after a quiet time is acknowledged soon, and
/// while uploads go on there is one entry in each interval. What comes last is acknowledged like the rest.
struct AcknowledgementPlan: Hashable, Sendable {
    /// Several uploads of one laptop come together.
    static let gatheringMilliseconds: UInt64 = 500
    static let intervalMilliseconds: UInt64 = 10_000

    enum Step: Hashable, Sendable {
        case acknowledge
        case wait(until: UInt64)
        /// Nothing has come for an interval: the plan can be forgotten, a new one decides the same.
        case forget
    }

    /// When something that was uploaded is to be acknowledged; nil while everything is.
    private(set) var due: UInt64?
    private var last: UInt64?

    mutating func onUpload(now: UInt64) {
        guard due == nil else { return }
        due = max(now + Self.gatheringMilliseconds, last.map { $0 + Self.intervalMilliseconds } ?? 0)
    }

    /// To be called at first, and whenever a wait is over.
    mutating func onTimer(now: UInt64) -> Step {
        if let due {
            guard due <= now else { return .wait(until: due) }
            self.due = nil
            last = now
            return .acknowledge
        }
        guard let last, now < last + Self.intervalMilliseconds else { return .forget }
        return .wait(until: last + Self.intervalMilliseconds)
    }
}
