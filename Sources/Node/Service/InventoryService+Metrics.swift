import Checkup
import Engine
import HTTPCoding
import LocalAPI
import Metering
import Storage

/// Numbers for people who look after many laptops: the one list, for the socket and for Prometheus's port. Nothing in it names a job, an
/// item, a laptop or a person.
extension InventoryService {
    func metrics() async throws -> [Metric] {
        let status = try await status()
        let refused = await replicator.refusedWork.reduce(0) { $0 + $1.count }
        let standing = MetricName.allCases.compactMap { name in
            value(of: name, status, refused: refused).map {
                Metric(name: name.rawValue, kind: .gauge, help: name.help, value: $0)
            }
        }
        let counted = CounterName.allCases.map { name in
            Metric(name: name.rawValue, kind: .counter, help: name.help, value: Double(facts.counters[name]))
        }
        return standing + counted
    }

    private func value(of name: MetricName, _ status: Status, refused: Int) -> Double? {
        let connected = status.peers.filter { $0.state == .connected }
        let directory = facts.configuration.stateDirectory
        let file = StateDirectory.storePath(in: directory)
        func sum(_ part: (PeerStatus) -> Int?) -> Double { Double(connected.reduce(0) { $0 + (part($1) ?? 0) }) }
        return switch name {
        case .uptime:
            // Not by the wall clock, which somebody may set.
            Double(machine.elapsedMilliseconds - min(machine.elapsedMilliseconds, facts.startedElapsed)) / 1000
        case .links: Double(connected.count)
        case .unreachable: Double(status.peers.count { $0.state == .unreachable })
        case .behind: sum(\.behind)
        case .ahead: sum(\.ahead)
        case .refused: Double(refused)
        case .jobs: Double(status.jobs)
        case .removedJobs: Double(status.removedJobs)
        case .pending: Double(status.queue.pending)
        case .parked: Double(status.queue.parked)
        case .serverReached: status.server.map { $0.state == .reached ? 1 : 0 }
        case .serverAge: status.server?.ageSeconds
        case .clockSynchronised: status.clock.isSynchronised ? 1 : 0
        case .clockDrift: status.clock.driftMilliseconds.map { $0 / 1000 }
        case .clockUncertainty: status.clock.uncertaintyMilliseconds.map { $0 / 1000 }
        case .diskFree: DiskSpace.freeBytes(at: directory).map { Double($0) }
        case .storeBytes: Double(Surroundings.fileBytes(at: file))
        case .storeLogBytes: Double(Surroundings.fileBytes(at: file + "-wal"))
        }
    }
}
