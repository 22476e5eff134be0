import Engine
import Replication
import ServiceLifecycle
import Storage

/// Follows this laptop's place in its fleet: who has just been let in is worth a fresh try everywhere. And whose certificate
/// ends while a connection stands has to show another one.
struct FleetService: Service {
    let fleet: FleetIdentity
    let store: Store
    let replicator: Replicator
    let machine: any Machine

    func run() async throws {
        let changes = fleet.changes()
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await _ in changes {
                        // Should they not be kept, they are with the next change, or at the next start.
                        try? await store.keepCertificates()
                        await replicator.updatePlan { plan, now in plan.onEnrolled(now: now) }
                    }
                }
                group.addTask {
                    while (try? await machine.sleep(milliseconds: Self.look)) != nil {
                        await replicator.disconnect(
                            fleet.endedDevices, reason: "The peer's certificate ran out long ago.")
                    }
                }
            }
        }
    }

    /// In milliseconds.
    private static let look: UInt64 = 600_000
}
