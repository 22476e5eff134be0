import Engine
import Replication
import ServiceLifecycle

/// Follows this laptop's place in its fleet: who has just been let in is worth a fresh try everywhere.
struct FleetService: Service {
    let fleet: FleetIdentity
    let replicator: Replicator

    func run() async throws {
        let changes = fleet.changes()
        await cancelWhenGracefulShutdown {
            for await _ in changes { await replicator.updatePlan { plan, now in plan.onEnrolled(now: now) } }
        }
    }
}
