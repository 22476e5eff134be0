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
        if let session = status.session { facts.add("Person", session.description) }
        facts.add("Store", ShortIDs.random(status.replicaID))
        facts.add("Daemon", "version \(status.version), up since \(Formats.time(status.startedAt))")
        facts.add("Clock", clock(status.clock))
        facts.add("Discovery", discovery(status.discovery))
        facts.add("Peers", peers(status))
        let removed = status.removedJobs
        facts.add(
            "Jobs",
            Formats.count(status.jobs)
                + (removed == 0 ? "" : ", and \(Formats.count(removed)) removed with late work (see: muster job late)"))
        if let server = status.server { facts.add("Server", self.server(server)) }
        facts.add(
            "Queue", "\(Formats.count(status.queue.pending)) pending, \(Formats.count(status.queue.parked)) parked")
        facts.print(on: .output)
    }

    private func peers(_ status: Status) -> String {
        let known = "\(Formats.count(status.peers.count)) known"
        guard status.sync != .notConnected else { return "no device is connected, \(known)" }
        let connected = status.peers.filter { $0.state == .connected }
        let inSync = connected.filter(\.isInSync).count
        return "\(Formats.count(connected.count)) connected, \(Formats.count(inSync)) in sync, \(known)"
    }

    private func clock(_ clock: ClockStatus) -> String {
        guard clock.source != .none, let drift = clock.driftMilliseconds else {
            return "unsynchronised: this laptop goes by its own"
        }
        let error = Formats.offset(drift, uncertainty: clock.uncertaintyMilliseconds)
        guard clock.isSynchronised else { return "unsynchronised: \(error) to the crew's, no server behind it" }
        return "synchronised: \(error) to the server's (from: \(clock.source.rawValue))"
    }

    private func server(_ contact: ServerContact) -> String {
        guard let age = contact.ageSeconds else { return "\(contact.address), never asked with success" }
        return "\(contact.address), last asked with success \(Formats.duration(seconds: age)) ago"
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
