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
        let (details, amendments) = try await options.withClient { client in
            // The amendments make the digest where somebody has signed.
            (
                try await client.job(job.reference, makesDigest: options.json),
                try await client.amendments(job: job.reference)
            )
        }
        if options.json { return try StandardOutput.json(WithAmendments(answer: details, amendments: amendments)) }
        var facts = Facts()
        facts.add("Job", details.name)
        facts.add("Id", details.id)
        facts.add("Kind", details.kind.rawValue)
        facts.add("State", details.isRemoved ? "removed" : details.state.description)
        if let signed = amendments.signed { facts.add("Signed", signed) }
        facts.add("Items", "\(Formats.count(details.items)), and \(Formats.count(details.removed)) removed")
        facts.add("Volume", details.volume.description)
        facts.add("Conflicts", conflicts(details))
        if details.late > 0 {
            facts.add("Late work", "\(counted(details.late, "change")) to decide on (see: muster job late)")
        }
        if let membership = membership(details) { facts.add("This laptop", membership) }
        facts.add("Peers", peers(details))
        facts.add(
            "Changes", "\(counted(transforms(details), "change")) by \(counted(details.vector.count, "laptop"))")
        facts.add("Changed", Formats.time(details.updatedAt))
        facts.add("Digest", details.digest ?? "is made when the job rests, or now by 'muster job check'")
        facts.print(on: .output)
    }

    private func membership(_ details: JobDetails) -> String? {
        switch details.membership {
        case .everybody, .office: nil
        case .on: "is on the job (see: muster job roster)"
        case .off: "is not on the job, and gets nothing new of it"
        }
    }

    private func transforms(_ details: JobDetails) -> Int {
        details.vector.values.reduce(0) { $0 + Int(clamping: $1) }
    }

    private func conflicts(_ details: JobDetails) -> String {
        details.conflicts == 0 ? "none" : "\(Formats.count(details.conflicts)) (see: muster job conflicts)"
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
