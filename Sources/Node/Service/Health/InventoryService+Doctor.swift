import CRDT
import Engine
import Identity
import LocalAPI
import Storage
import Transport

/// Everything that the daemon depends on, looked at when somebody asks.
extension InventoryService {
    func doctor() async throws -> DoctorReport {
        let configuration = facts.configuration
        return DoctorReport(checks: [
            HealthRules.discovery(facts.discovery.status, configuredPeers: configuration.peers.count),
            HealthRules.network(
                listen: configuration.listen, port: transport.boundPort, isLoopbackOnly: configuration.isLoopbackOnly,
                waitsForFleet: configuration.waitsForFleet && fleet.membership == nil,
                addresses: Surroundings.addresses, connected: (try? await connectedPeers()) ?? 0),
            HealthRules.fleet(fleetStanding),
            HealthRules.journals(await replicator.refusedWork),
            await jobsCheck(),
            await clockCheck(),
            await serverCheck(),
            HealthRules.queue(await queueStatus()),
            HealthRules.disk(
                free: Surroundings.freeBytes(at: configuration.stateDirectory), directory: configuration.stateDirectory),
            await storeCheck(),
        ])
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
            return HealthCheck("jobs", .failed, "cannot be read (\(error))", remedy: "see the daemon's log")
        }
    }

    private func storeCheck() async -> HealthCheck {
        var problems: [String]
        do { problems = try await store.quickProblems() } catch { problems = ["\(error)"] }
        if !store.isInPlace() { problems = [StoreError.replacedFile.description] }
        let file = StateDirectory.storePath(in: facts.configuration.stateDirectory)
        return HealthRules.store(
            problems: problems, bytes: Surroundings.fileBytes(at: file) + Surroundings.fileBytes(at: file + "-wal"),
            wasRenewed: store.wasCopied || store.identity.replica != facts.firstReplica)
    }
}
