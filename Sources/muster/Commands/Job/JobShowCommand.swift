import ArgumentParser
import Inventory
import LocalAPI

struct JobShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a job's state, items, volume, conflicts, and which peers are behind.",
        discussion: "Example:\n  muster job show \"Smith, 12 Elm Street\"")

    @OptionGroup var job: JobArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        try await options.withClient { client in
            // The amendments make the digest where somebody has signed.
            let details = try await client.job(job.reference, makesDigest: options.json)
            let amendments = try await client.amendments(job: job.reference)
            if options.json { return try StandardOutput.json(WithAmendments(answer: details, amendments: amendments)) }
            let refused = try await client.queue().filter { $0.job == details.id && $0.isOwn && $0.state == .rejected }
            // Of a removed job, or one that is everybody's, nobody is named.
            let assignment = details.membership == .everybody ? nil : try await client.assignment(job: details.id)
            show(details, amendments, refused: refused, assignment)
        }
    }

    private func show(
        _ details: JobDetails, _ amendments: AmendmentReport, refused: [QueueEntry], _ assignment: JobAssignment?
    ) {
        var facts = Facts()
        facts.add("Job", details.name)
        facts.add("Id", details.id)
        facts.add("Kind", details.kind.rawValue)
        facts.add("State", details.isRemoved ? "removed" : details.state.description)
        if !refused.isEmpty {
            let wishes = refused.map(\.wish).joined(separator: ", ")
            facts.add("Refused", "\(counted(refused.count, "request")): \(wishes) (see: muster queue list)")
        }
        if let signed = amendments.signed { facts.add("Signed", signed) }
        facts.add("Items", "\(Formats.count(details.items)), and \(Formats.count(details.removed)) removed")
        facts.add("Volume", details.volume.description)
        facts.add("Conflicts", conflicts(details))
        if details.late > 0 {
            facts.add("Late work", "\(counted(details.late, "change")) to decide on (see: \(command("late", details)))")
        }
        if let onIt = onIt(assignment) { facts.add("On it", onIt) }
        if details.membership == .off { facts.add("This laptop", "is not on the job, and gets nothing new of it") }
        facts.add("Peers", peers(details))
        facts.add("Changes", changes(details))
        facts.add("Changed", Formats.time(details.updatedAt))
        facts.add("Digest", details.digest ?? "not made yet: '\(command("check", details))' makes it")
        facts.print(on: .output)
    }

    /// Who receives it, where it is not everybody's.
    private func onIt(_ assignment: JobAssignment?) -> String? {
        let names = assignment?.laptops.filter(\.isOn).map(\.title) ?? []
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    private func changes(_ details: JobDetails) -> String {
        let laptops = details.vector.keys.filter { $0 != Self.office }.count
        let office = details.vector.count > laptops ? "the office" : nil
        let authors = [laptops > 0 ? counted(laptops, "laptop") : nil, office].compactMap(\.self)
        guard !authors.isEmpty else { return "none" }
        return "\(Formats.count(transforms(details))) by \(authors.joined(separator: " and "))"
    }

    /// As it can be typed.
    private func command(_ name: String, _ details: JobDetails) -> String {
        ShellWord.command(["muster", "job", name, ShortIDs.one(details.id)])
    }

    /// The replica id of what the server says.
    private static let office = String(repeating: "0", count: 32)

    private func transforms(_ details: JobDetails) -> Int {
        details.vector.values.reduce(0) { $0 + Int(clamping: $1) }
    }

    private func conflicts(_ details: JobDetails) -> String {
        details.conflicts == 0 ? "none" : "\(Formats.count(details.conflicts)) (see: \(command("conflicts", details)))"
    }

    private func peers(_ details: JobDetails) -> String {
        switch details.sync {
        case .notConnected: return "no laptop is connected"
        case .inSync: return "every connected laptop is in sync"
        case .catchingUp: break
        }
        return details.peersBehind.map { peer in
            "\(peer.name ?? ShortIDs.random(peer.deviceID)) \(Formats.count(peer.transforms)) behind"
        }.joined(separator: ", ")
    }
}
