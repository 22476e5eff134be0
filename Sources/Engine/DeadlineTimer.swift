/// One wait until the time that a state machine has named.
struct DeadlineTimer {
    /// What is waited for, on the elapsed clock in milliseconds; nil while nothing is.
    private(set) var deadline: UInt64?
    private var task: Task<Void, Never>?

    /// Waits for this instead of what was waited for; for nothing if it is nil.
    ///
    /// - Parameter work: must bear to be called early. One wake-up too many costs far less than a new timer for each message.
    mutating func set(_ deadline: UInt64?, on machine: any Machine, _ work: @escaping @Sendable () async -> Void) {
        if let deadline, let waited = self.deadline, waited <= deadline { return }
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
