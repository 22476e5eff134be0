import ArgumentParser
import LocalAPI

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show this laptop, its clock, peers, jobs and queue at a glance.",
        discussion: "Example:\n  muster status --json | jq .peers")

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let (status, fleet) = try await options.withClient { (try await $0.status(), try? await $0.fleet()) }
        if options.json { return try StandardOutput.json(status) }
        var facts = Facts()
        facts.add("Laptop", "\(status.name) (\(ShortIDs.random(status.deviceID)))")
        if let session = status.session { facts.add("Person", session.description) }
        if let fleet { facts.add("Fleet", place(in: fleet)) }
        facts.add("Store", ShortIDs.random(status.replicaID))
        facts.add("Daemon", "version \(status.version), up since \(Formats.time(status.startedAt))")
        facts.add("Clock", clock(status.clock))
        facts.add("Discovery", discovery(status.discovery))
        facts.add("Peers", peers(status, fleet))
        let removed = status.removedJobs
        facts.add(
            "Jobs",
            Formats.count(status.jobs)
                + (removed == 0
                    ? "" : ", and \(Formats.count(removed)) removed with late work (see: muster job late JOB)"))
        if let server = status.server { facts.add("Server", self.server(server)) }
        facts.add("Queue", queue(status.queue))
        facts.print(on: .output)
    }

    private func place(in fleet: FleetStatus) -> String {
        if fleet.isRevoked { return "this laptop was revoked: nobody talks to it (see: muster doctor)" }
        guard let id = fleet.fleetID, let role = fleet.role else {
            return "none: it exchanges nothing (see: muster help fleet join)"
        }
        return "\(id), \(role)" + (fleet.validUntil.map { " until \(Formats.time($0))" } ?? "")
    }

    private func peers(_ status: Status, _ fleet: FleetStatus?) -> String {
        if status.peers.isEmpty { return "none found yet: \(Company.nextStep(fleet, status.discovery))" }
        let known = "\(Formats.count(status.peers.count)) known"
        guard status.sync != .notConnected else { return "no laptop is connected, \(known)" }
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

    private func server(_ server: ServerContact) -> String {
        let standing =
            switch server.state {
            case .unknown: "not asked yet since the daemon started"
            case .reached: "answers"
            case .noRoute: "there is no way to it now"
            case .unreachable: "is not reached"
            case .unhealthy: "is not well"
            case .unauthorised: "does not let this laptop in"
            }
        let reason = server.reason.map { " (\($0))" } ?? ""
        let age = server.ageSeconds.map { "last asked with success \(Formats.duration(seconds: $0)) ago" }
        return "\(server.address): \(standing)\(reason), \(age ?? "never asked with success")"
    }

    private func queue(_ queue: QueueStatus) -> String {
        var parts: [String] = []
        if queue.pending > 0 { parts.append("\(counted(queue.pending, "request")) on the way") }
        if queue.rejected > 0 { parts.append("\(Formats.count(queue.rejected)) rejected (see: muster queue list)") }
        if queue.isPaused || !queue.pausedJobs.isEmpty {
            let what = queue.isPaused ? "everything" : counted(queue.pausedJobs.count, "job")
            let waiting = queue.paused == 0 ? "" : ", \(counted(queue.paused, "request")) waiting"
            parts.append("\(what) paused\(waiting) (go on with: muster queue resume)")
        }
        return parts.isEmpty ? "nothing waits" : parts.joined(separator: "; ")
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
