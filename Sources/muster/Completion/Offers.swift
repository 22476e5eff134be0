import ArgumentParser
import FoundationEssentials
import Inventory
import LocalAPI

/// What a shell offers for a word: names that the daemon knows. Quick and silent: where there is no daemon nothing is offered, and nothing
/// is said.
enum Offers {
    /// Names of jobs that live; of jobs of one name the ids.
    static let jobs = kind { client, _ in
        let jobs = try await client.jobs().filter { !$0.isRemoved }
        let names = Dictionary(grouping: jobs, by: \.name)
        return jobs.map { job in
            let isAlone = names[job.name]?.count == 1 && Text.plain(job.name) == job.name
            return Offer(isAlone ? job.name : job.id, "\(job.state.description), \(counted(job.items, "item"))")
        }
    }

    /// Barcodes of the items of the job that stands before, or the ids of those that have none.
    static let items = kind { client, words in
        let command = CommandNames.path(in: words.before)
        guard let job = words.positionals(of: command).first else { return [] }
        var found: [Offer] = []
        let began = ContinuousClock.now
        do {
            try await client.items(job: job, matching: []) { (items: [ItemRow]) in
                for item in items {
                    let reference =
                        item.fields.barcode.flatMap { $0.isEmpty || Text.plain($0) != $0 ? nil : $0 } ?? item.id
                    if reference.hasPrefix(words.current) {
                        found.append(Offer(reference, item.fields.name ?? item.fields.title ?? ""))
                    }
                }
                if found.count >= most || ContinuousClock.now - began > longest { throw Enough() }
            }
        } catch is Enough {}
        return found
    }

    /// Tokens of what waits for the server.
    static let tokens = kind { client, _ in
        try await client.queue().map { Offer(ShortIDs.random($0.token), "\($0.jobName ?? $0.job): \($0.wish)") }
    }

    /// The fleet's laptops, by name; those that were shut out do not count.
    static let laptops = kind { client, _ in
        try await client.fleetDevices().filter { $0.state != .revoked }.compactMap { device in
            device.name.map { Offer($0, "\(ShortIDs.random(device.deviceID)) \(device.role ?? "")") }
        }
    }

    /// The crew's list.
    static let people = kind { client, _ in try await client.crew().names.map { Offer($0, "") } }

    /// `room=` and the like, to be gone on with.
    static let fields = kind { _, _ in
        WellKnownField.all.subtracting(["notes", "replaces"]).sorted().map { Offer("\($0)=", "") }
    }

    /// The states of a job.
    static let states = CompletionKind.list(JobState.allCases.map(\.rawValue))

    private static let most = 200
    private static let longest = Duration.milliseconds(700)

    private struct Enough: Error {}

    private static func kind(
        _ offers: @escaping @Sendable (LocalClient, CommandLineWords) async throws -> [Offer]
    ) -> CompletionKind {
        .custom { words, index, current in
            let environment = ProcessInfo.processInfo.environment
            let shell = Shell(rawValue: environment["SAP_SHELL"] ?? "") ?? .other
            let line = environment["MUSTER_COMPLETION_LINE"].map { CommandLineWords(line: $0) }
            let words = line ?? CommandLineWords(words, index: index, current: current, areQuoted: shell == .zsh)
            let socket = words.value(of: "--socket").map { ["--socket", $0] } ?? []
            guard let options = try? GlobalOptions.parse(socket),
                let found = try? await LocalClient.with(
                    socketPath: options.socketPath, timeoutSeconds: 1, { try await offers($0, words) })
            else { return [] }
            let fitting = found.filter { Text.plain($0.word) == $0.word && $0.word.hasPrefix(words.current) }
            return fitting.prefix(most).map {
                shell.line($0, for: words, piece: environment["MUSTER_COMPLETION_WORD"])
            }
        }
    }
}

/// One word that is offered, and what a person knows it by.
struct Offer: Equatable, Sendable {
    let word: String
    let meaning: String

    init(_ word: String, _ meaning: String) { (self.word, self.meaning) = (word, Text.plain(meaning)) }
}

/// How each shell takes an offer, in a line of its own.
enum Shell: String {
    case bash, zsh, fish, other

    /// - Parameter piece: the part of the current word behind the last colon or equals sign, where bash breaks words; as it was typed.
    func line(_ offer: Offer, for words: CommandLineWords, piece: String?) -> String {
        switch self {
        case .bash:
            // What stands before the piece stays as it was typed.
            let piece = piece ?? ""
            let typed = words.openQuote == nil ? CommandLineWords.words(of: piece).first ?? "" : piece
            let rest = offer.word.dropFirst(max(0, words.current.count - typed.count))
            return Self.escaped(rest, within: words.openQuote)
        // zsh reads the meaning behind the first colon, fish behind a tab.
        case .zsh:
            let word = offer.word.split(separator: ":", omittingEmptySubsequences: false).joined(separator: "\\:")
            return offer.meaning.isEmpty ? word : "\(word):\(offer.meaning)"
        case .fish: return offer.meaning.isEmpty ? offer.word : "\(offer.word)\t\(offer.meaning)"
        case .other: return offer.word
        }
    }

    /// As bash reads it where it is typed. Its own quoting of file names leaves `$` and `)` as they are.
    private static func escaped(_ text: Substring, within quote: Character?) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch quote {
            case "'": bytes += byte == UInt8(ascii: "'") ? Array("'\\''".utf8) : [byte]
            case "\"": bytes += "\"\\$`".utf8.contains(byte) ? [UInt8(ascii: "\\"), byte] : [byte]
            default: bytes += byte < 0x80 && !ShellWord.bare.contains(byte) ? [UInt8(ascii: "\\"), byte] : [byte]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
