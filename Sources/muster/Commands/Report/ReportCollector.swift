import Checkup
import FoundationEssentials
import Glibc
import HTTPCoding
import LocalAPI
import Systemd

/// Asks the daemon for what goes into a report; what it does not answer is named.
struct ReportCollector {
    let options: GlobalOptions

    /// A daemon that stands still is not waited for again and again.
    private static let patienceSeconds = 10
    /// Attempts of the queue's log.
    private static let attempts = 200

    func report(withCustomerData: Bool) async -> SupportReport {
        let doctor = await DoctorCommand.examine(options)
        var report = SupportReport(
            madeAt: Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)),
            versions: SupportReport.Versions(
                muster: MusterVersion.current, musterd: doctor.version, system: Self.system, kernel: Self.kernel),
            doctor: SupportReport.Doctor(doctor))
        guard doctor.checks.first(where: { $0.id == .daemon })?.outcome != .fail else {
            if withCustomerData { report.customerData = SupportReport.CustomerData(doctor: doctor) }
            report.missing = [
                "what only the daemon knows, since it does not answer: settings, status, peers, clock, queue, store"
            ]
            if withCustomerData { report.missing.append("what people wrote, but for what stands in the log") }
            LastWords(options: options).add(to: &report)
            return report
        }
        if withCustomerData { report.customerData = SupportReport.CustomerData(doctor: doctor) }
        let empty = report
        let collected = try? await LocalClient.with(
            socketPath: options.socketPath, timeoutSeconds: Self.patienceSeconds
        ) { client in
            var report = empty
            await Self.collect(from: client, into: &report)
            return report
        }
        return collected ?? report
    }

    private static func collect(from client: LocalClient, into report: inout SupportReport) async {
        var missing: [String] = []
        func part<Value: Sendable>(_ name: String, _ ask: () async throws -> Value) async -> Value? {
            do { return try await ask() } catch {
                missing.append("\(name) (\((error as? APIError)?.code.rawValue ?? "no answer"))")
                return nil
            }
        }
        let diagnostics = await part("settings, store and log") { try await client.diagnostics() }
        let status = await part("status") { try await client.status() }
        let clock = await part("clock") { try await client.clock() }
        let queue = await part("queue") { try await client.queue() }
        let attempts = await part("queue log") { try await client.attempts(limit: Self.attempts) }
        report.settings = diagnostics?.settings
        report.store = diagnostics?.store
        report.events = diagnostics?.events.map(SupportReport.Event.init)
        report.status = status.map(SupportReport.State.init)
        report.peers = status?.peers
        report.clock = clock.map(SupportReport.Clock.init)
        report.queue = queue?.map(SupportReport.Request.init)
        report.queueLog = attempts?.map(SupportReport.Attempt.init)
        if report.customerData != nil {
            report.customerData?.status = status
            report.customerData?.clock = clock
            report.customerData?.queue = queue
            report.customerData?.queueLog = attempts
            report.customerData?.events = diagnostics?.events.map(SupportReport.withoutSecrets)
            report.customerData?.crew = await part("crew") { try await client.crew() }
            report.customerData?.jobs = await part("jobs") { try await jobs(of: client) }
        }
        report.missing = missing
    }

    private static func jobs(of client: LocalClient) async throws -> [SupportReport.Job] {
        var jobs: [SupportReport.Job] = []
        for job in try await client.jobs() {
            var items: [ItemView] = []
            if !job.isRemoved { try await client.items(job: job.id, matching: []) { items += $0 } }
            jobs.append(SupportReport.Job(job: job, items: items))
        }
        return jobs
    }

    /// As the distribution calls itself (os-release(5)).
    private static var system: String? {
        guard let bytes = FileManager.default.contents(atPath: "/etc/os-release") else { return nil }
        let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
        return line.map { $0.dropFirst("PRETTY_NAME=".count).filter { $0 != "\"" } }
    }

    private static var kernel: String? {
        var names = utsname()
        guard uname(&names) == 0 else { return nil }
        return withUnsafeBytes(of: &names.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
