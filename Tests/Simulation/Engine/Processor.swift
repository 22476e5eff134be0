/// The processor of one laptop: while it sleeps, none of its tasks goes on, and what has come meanwhile does when it wakes up.
final class Processor: TaskExecutor, @unchecked Sendable {
    let scheduler: Scheduler
    private(set) var isAsleep = false
    /// When it last woke up.
    private(set) var wokeAt: Int64 = -1
    private var waiting: [UnownedJob] = []

    init(scheduler: Scheduler) {
        self.scheduler = scheduler
    }

    func enqueue(_ job: consuming ExecutorJob) {
        scheduler.add(UnownedJob(job), on: self)
    }

    /// Takes what would go on now, until it wakes up.
    func keep(_ job: UnownedJob) { waiting.append(job) }

    func fallAsleep() { isAsleep = true }

    func wakeUp() {
        if isAsleep { wokeAt = scheduler.now }
        isAsleep = false
        for job in waiting { scheduler.add(job, on: self) }
        waiting = []
    }
}
