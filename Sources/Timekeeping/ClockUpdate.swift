/// What follows from what a source has said of the time, for a shell to carry out.
package struct ClockUpdate: Hashable, Sendable {
    /// By how much the time steps, in milliseconds: what was written and nobody has seen is shifted with it (rule R5). It
    /// is 0 when the time is first learned and turns out to be what was thought: nothing is shifted, now or later. Nil
    /// when the time does not step.
    package let stepMilliseconds: Int64?
    /// To be kept durably, in one transaction with what the step shifts: after a crash in between the step is learned anew.
    package let record: ClockRecord?
    /// As `CorrectedClock.isSettled`.
    package let isSettled: Bool
}
