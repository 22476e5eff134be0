import Checkup
import Engine
import HTTPCoding
import LocalAPI
import Storage

/// Numbers for people who look after many laptops. They are read when somebody asks: who does not ask pays nothing.
extension InventoryService {
    func metrics() async throws -> [Metric] {
        let status = try await status()
        let refused = await replicator.refusedWork.reduce(0) { $0 + $1.count }
        return MetricName.allCases.compactMap { name in
            value(of: name, status, refused: refused).map {
                Metric(name: name.rawValue, kind: .gauge, help: name.help, value: $0)
            }
        }
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
        case .received: sum(\.bytesReceived)
        case .sent: sum(\.bytesSent)
        case .changesReceived: sum(\.transformsReceived)
        case .changesTwice: sum(\.transformsDuplicate)
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
