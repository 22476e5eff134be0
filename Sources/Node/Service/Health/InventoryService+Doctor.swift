import CRDT
import Checkup
import Engine
import HTTPCoding
import Identity
import LocalAPI
import Storage
import Transport

/// Everything that the daemon depends on, looked at when somebody asks.
extension InventoryService {
    func doctor() async throws -> DoctorReport {
        let configuration = facts.configuration
        // Both may have to be waited for.
        async let avahi = configuration.usesDiscovery ? Self.avahiState() : .closed
        async let store = storeCheck()
        let connected = (try? await connectedPeers()) ?? 0
        var checks = [
            HealthRules.discovery(
                facts.discovery.status, avahi: await avahi,
                configuredPeers: Set(configuration.peers + keptPeers.all).count, connected: connected),
            HealthRules.network(
                listen: configuration.listen, port: transport.boundPort, isLoopbackOnly: configuration.isLoopbackOnly,
                waitsForFleet: configuration.waitsForFleet && fleet.membership == nil,
                interfaces: NetworkInterface.all, connected: connected),
        ]
        checks += await neighbourChecks()
        checks += [
            HealthRules.fleet(fleetStanding, damage: fleet.damage),
            HealthRules.journals(await replicator.refusedWork),
            await jobsCheck(),
            await clockCheck(),
            await serverCheck(),
            HealthRules.queue(await queueStatus()),
            DiskSpace.check(
                free: DiskSpace.freeBytes(at: configuration.stateDirectory), directory: configuration.stateDirectory),
            await store,
            HealthRules.metrics(facts.metricsPort),
        ]
        return DoctorReport(version: MusterVersion.current, checks: checks)
    }

    /// Beside the event loop's thread, which must not stand still with avahi.
    private static func avahiState() async -> AvahiProbe.State {
        await withTaskExecutorPreference(globalConcurrentExecutor) { AvahiProbe().state }
    }

    private func connectedPeers() async throws -> Int { try await peers().count { $0.state == .connected } }

    private var fleetStanding: FleetStanding? {
        guard let membership = fleet.membership else { return nil }
        return FleetStanding(
            role: membership.own.role, validUntil: membership.validUntil,
            issuerUntil: membership.authority?.certificate.notAfter, isRevoked: fleet.isRevoked,
            isIssuerRevoked: fleet.revocations.contains(membership.issuer.key.device), now: Int64(nowMilliseconds))
    }

    private func clockCheck() async -> HealthCheck {
        HealthRules.clock(clock.overview, future: (try? await futureWork()) ?? [])
    }

    private func serverCheck() async -> HealthCheck {
        let configuration = facts.configuration
        return HealthRules.server(
            configuration.server.map { "\($0)" }, standing: await gateway?.standing, queue: await queueStatus())
    }

    private func jobsCheck() async -> HealthCheck {
        do {
            let living = try await store.jobs().filter { !$0.isRemoved }
            // As people read them: two spellings that Unicode holds equal are one name.
            let shared = Dictionary(grouping: living, by: \.name).filter { $0.value.count > 1 }
            var namesakes: [Namesakes] = []
            for (name, jobs) in shared.sorted(by: { $0.key < $1.key }) {
                var described: [String] = []
                for job in jobs { described.append("\(job.id) (\(try await description(of: job)))") }
                namesakes.append(Namesakes(name: name, jobs: described))
            }
            return HealthRules.jobs(try await store.jobCounts(), namesakes: namesakes)
        } catch {
            return .fail(.jobs, "cannot be read (\(error))", remedy: "see the daemon's log")
        }
    }

    private func storeCheck() async -> HealthCheck {
        guard var problems = await storeInspection.problems(of: store, on: machine) else {
            return .unknown(
                .store, "it is large, and still being looked through", remedy: "ask again in a minute")
        }
        if !store.isInPlace() { problems = [StoreError.replacedFile.description] }
        let file = StateDirectory.storePath(in: facts.configuration.stateDirectory)
        return HealthRules.store(
            problems: problems, bytes: Surroundings.fileBytes(at: file) + Surroundings.fileBytes(at: file + "-wal"),
            wasRenewed: store.wasCopied || store.identity.replica != facts.firstReplica)
    }
}
