import ArgumentParser
import LocalAPI

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show this device, its clock, peers, jobs and queue at a glance.",
        discussion: "Example:\n  muster status --json | jq .peers")

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let status = try await options.withClient { try await $0.status() }
        if options.json { return try StandardOutput.json(status) }
        var facts = Facts()
        facts.add("Device", "\(status.name) (\(ShortIDs.random(status.deviceID)))")
        facts.add("Store", ShortIDs.random(status.replicaID))
        facts.add("Daemon", "version \(status.version), up since \(Formats.time(status.startedAt))")
        facts.add("Clock", clock(status.clock))
        facts.add("Discovery", discovery(status.discovery))
        let connected = status.peers.filter { $0.state == .connected }
        let inSync = connected.filter(\.isInSync).count
        facts.add("Peers", "\(connected.count) connected, \(inSync) in sync, \(status.peers.count) known")
        let incomplete = status.incompleteJobs
        facts.add(
            "Jobs", Formats.count(status.jobs) + (incomplete == 0 ? "" : ", \(Formats.count(incomplete)) incomplete"))
        facts.add(
            "Queue", "\(Formats.count(status.queue.pending)) pending, \(Formats.count(status.queue.parked)) parked")
        facts.print(on: .output)
    }

    private func clock(_ clock: ClockStatus) -> String {
        guard clock.source != .none, let drift = clock.driftMilliseconds else {
            return "unsynchronised: this laptop goes by its own"
        }
        let error = Formats.offset(drift, uncertainty: clock.uncertaintyMilliseconds)
        guard clock.isSynchronised else { return "unsynchronised: \(error) to the crew's, no server behind it" }
        return "synchronised: \(error) to the server's (from: \(clock.source.rawValue))"
    }

    private func discovery(_ discovery: DiscoveryStatus) -> String {
        switch discovery.state {
        case .available: "on"
        case .off: "switched off"
        case .unavailable:
            (["not available", discovery.reason, discovery.remedy] as [String?]).compactMap(\.self).joined(
                separator: ": ")
        }
    }
}
