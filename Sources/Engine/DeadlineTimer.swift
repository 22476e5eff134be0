/// One wait until the time that a state machine has named.
struct DeadlineTimer {
    /// What is waited for, on the elapsed clock in milliseconds; nil while nothing is.
    private(set) var deadline: UInt64?
    private var task: Task<Void, Never>?

    /// Does the work at this time at the latest; not at all if it is nil.
    ///
    /// - Parameter work: must bear to be called early, and set the timer again: one wake-up too many costs far less than a new
    ///   timer for each message.
    mutating func set(_ deadline: UInt64?, on machine: any Machine, _ work: @escaping @Sendable () async -> Void) {
        // One that is overdue has slept with the laptop, and may go on sleeping for as long as it had left.
        if let deadline, let waited = self.deadline, waited <= deadline, waited > machine.elapsedMilliseconds { return }
        task?.cancel()
        self.deadline = deadline
        task = deadline.map { machine.at($0, work) }
    }

    /// The work says that its turn has come. False if it was cancelled while it waited for that: another one has taken its
    /// place.
    mutating func begins() -> Bool {
        guard !Task.isCancelled else { return false }
        deadline = nil
        task = nil
        return true
    }

    func cancel() { task?.cancel() }
}
