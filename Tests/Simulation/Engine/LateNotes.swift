import Engine
import Storage
import Synchronization

/// The thread that writes may be ahead of the mesh: what it tells of waits now and then, and stays in its order.
final class LateNotes: Sendable {
    private let run: VirtualRun
    private let scheduler: Scheduler
    private let waiting = Mutex<[CommittedNote]>([])

    init(run: VirtualRun, scheduler: Scheduler) {
        self.run = run
        self.scheduler = scheduler
    }

    func tell(_ note: CommittedNote, to replicator: Replicator) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(note)
            return waiting.count == 1
        }
        guard isFirst else { return }
        run.begin { [self] in
            var generator = run.generator
            if Int.random(in: 0..<4, using: &generator) == 0 {
                await scheduler.pass(microseconds: Int64.random(in: 0...500_000, using: &generator))
            }
            let notes = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            for note in notes { replicator.committed(note) }
        }
    }
}
