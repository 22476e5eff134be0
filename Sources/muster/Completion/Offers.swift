import ArgumentParser
import CRDT
import FoundationEssentials
import Glibc
import Identity
import Inventory
import LocalAPI
import Usage

/// What a shell offers for a word: names that the daemon knows. Quick and silent: where there is no daemon nothing is offered, and nothing
/// is said.
enum Offers {
    /// Names of jobs that live; of jobs of one name the ids.
    static let jobs = kind { client, words in
        let jobs = try await client.jobs().filter { !$0.isRemoved }
        let things = jobs.map {
            Thing(id: $0.id, name: $0.name, meaning: "\($0.state.description), \(counted($0.items, "item"))")
        }
        return Offer.naming(things, short: ShortIDs(jobs.map(\.id)), typed: words.current)
    }

    /// Barcodes of the items of the job that stands before, or the ids of those that have none of their own.
    static let items = kind { client, words in
        let command = CommandPath(words.before, of: Muster.self).text
        guard let job = words.positionals(of: command).first else { return [] }
        var things: [Thing] = []
        var ids: [String] = []
        try await client.items(job: job, matching: []) { (items: [ItemRow]) in
            ids += items.prefix(ShortIDs.sample + 1 - min(ids.count, ShortIDs.sample + 1)).map(\.id)
            for item in items {
                let barcode = item.fields.barcode ?? ""
                // Of a large job only these: to look at each id would take longer than a person waits.
                if ids.count > ShortIDs.sample, !barcode.isEmpty, !barcode.hasPrefix(words.current) { continue }
                things.append(Thing(id: item.id, name: barcode, meaning: item.fields.name ?? item.fields.title ?? ""))
            }
        }
        // As short as the list has them.
        let short = ShortIDs(ids, isPart: ids.count > ShortIDs.sample)
        return Offer.naming(things, short: short, typed: words.current)
    }

    /// Removed items of the job that stands before, as the living ones are offered; but those that are back.
    static let removedItems = kind { client, words in
        guard let job = words.positionals(of: CommandPath(words.before, of: Muster.self).text).first else { return [] }
        var (removed, back) = ([String: String](), Set<String>())
        var barcodes: [String: String] = [:]
        try await client.log(job: job, item: nil) { change in
            if change.action == .removed { removed[change.item] = change.itemName ?? "" }
            for field in change.fields where field.field == WellKnownField.barcode.text {
                barcodes[change.item] = field.to
            }
            back.formUnion(change.fields.lazy.filter { $0.field == WellKnownField.replaces.text }.map(\.to))
        }
        let gone = removed.filter { !back.contains($0.key) }.sorted { $0.key < $1.key }
        let things = gone.map { Thing(id: $0.key, name: barcodes[$0.key] ?? "", meaning: $0.value) }
        return Offer.naming(things, short: ShortIDs(gone.map(\.key)), typed: words.current)
    }

    /// Tokens of what waits for the server.
    static let tokens = kind { client, _ in
        try await client.queue().map { Offer(ShortIDs.random($0.token), "\($0.jobName ?? $0.job): \($0.wish)") }
    }

    /// The fleet's laptops; those that were shut out do not count.
    static let laptops = kind { client, words in
        let devices = try await client.fleetDevices().filter { $0.state != .revoked }
        let things = devices.map { Thing(id: $0.deviceID, name: $0.name ?? "", meaning: $0.role ?? "") }
        return Offer.naming(things, short: ShortIDs(devices.map(\.deviceID)), typed: words.current)
    }

    /// The crew's list.
    static let people = kind { client, _ in
        try await client.crew().names.filter(Offer.canBe).map { Offer($0) }
    }

    /// `room=` and the like, to be gone on with.
    static let fields = known { _ in enteredFields.map { Offer("\($0)=") } }

    /// Columns of the list that the line asks for, with commas between.
    static let columns = known { words in Offer.columns(columnNames(for: words), typed: words.current) }

    /// One column, to sort by; behind a hyphen the other way round.
    static let sorting = known { words in
        let hyphen = words.current.hasPrefix("-") ? "-" : ""
        return columnNames(for: words).map { Offer(hyphen + $0) }
    }

    /// The states of a job.
    static let states = CompletionKind.list(JobState.allCases.map(\.rawValue))

    /// What a laptop may be let in as; with a signature on paper the company's proxy, too.
    static func roles(without others: [FleetRole] = []) -> CompletionKind {
        .list(FleetRole.allCases.filter { !others.contains($0) }.map(\.rawValue))
    }

    /// What a person may enter of an item by its name.
    static let enteredFields = WellKnownField.all.subtracting(["notes", "replaces"]).sorted()

    private static func columnNames(for words: CommandLineWords) -> [String] {
        (CommandPath(words.before, of: Muster.self).command as? any ListCommand.Type)?.columnNames ?? []
    }

    /// So long a person waits for a key without wondering.
    private static let patience = Duration.milliseconds(900)

    private static func kind(
        _ offers: @escaping @Sendable (LocalClient, CommandLineWords) async throws -> [Offer]
    ) -> CompletionKind {
        .custom { words, index, current in
            // Whatever holds it up, this process is there for one answer: nothing is offered then.
            Task.detached {
                try? await Task.sleep(for: patience)
                _exit(0)
            }
            let request = CompletionRequest(words, index, current)
            let socket = request.words.value(of: "--socket").map { ["--socket", $0] } ?? []
            guard let options = try? GlobalOptions.parse(socket),
                let found = try? await LocalClient.with(
                    socketPath: options.socketPath, timeoutSeconds: 1, { try await offers($0, request.words) })
            else { return [] }
            return request.lines(found)
        }
    }

    /// What is known without a daemon.
    private static func known(_ offers: @escaping @Sendable (CommandLineWords) -> [Offer]) -> CompletionKind {
        .custom { (words: [String], index: Int, current: String) -> [String] in
            let request = CompletionRequest(words, index, current)
            return request.lines(offers(request.words))
        }
    }

    /// What the script of a shell hands over.
    private struct CompletionRequest {
        let words: CommandLineWords
        private let shell: Shell
        private let piece: String?

        init(_ words: [String], _ index: Int, _ current: String) {
            let environment = ProcessInfo.processInfo.environment
            shell = Shell(rawValue: environment["SAP_SHELL"] ?? "") ?? .other
            piece = environment["MUSTER_COMPLETION_WORD"]
            self.words =
                environment["MUSTER_COMPLETION_LINE"].map { CommandLineWords(line: $0) }
                ?? CommandLineWords(words, index: index, current: current, areQuoted: shell == .zsh)
        }

        func lines(_ offers: [Offer]) -> [String] {
            Offer.chosen(offers, typed: words.current).map { shell.line($0, for: words, piece: piece) }
        }
    }
}
