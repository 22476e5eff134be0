import ArgumentParser
import LocalAPI
import Systemd

struct CarryOutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "out",
        abstract: "Write what other laptops may have to a file, one for each of them.",
        usage: """
            muster carry out <path> [--for <laptop> ...] [--job <job> ...]
                             [--json] [--socket <path>]
            """,
        discussion: """
            In a directory each laptop gets a file of its own, named by both and the time, for all that are known here (see \
            'muster fleet list') or whose card lies there; --for names some. Only that laptop can read it, and it gets the \
            jobs that it is on. This laptop's card is left there, too, so that others can carry to it: of two laptops that \
            have never met the first one leaves its card, the other one its work, and then the first one.

            Examples:
              muster carry out /media/stick
              muster carry out /media/stick --for anna-laptop --job "Smith, 12 Elm Street"
            """)

    /// More laptops are named, not meant.
    private static let mostUnnamed = 24

    @Argument(help: "A directory, or a file where one laptop is named.", completion: .directory)
    var path: String

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Only for this laptop: its name, or its id. May be repeated.", valueName: "laptop"),
        completion: Offers.laptops)
    var names: [String] = []

    @Option(
        name: .customLong("job"), help: ArgumentHelp("Only of this job. May be repeated.", valueName: "job"),
        completion: Offers.jobs)
    var jobs: [String] = []

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let place = CarryPlace(path)
        let written = try await options.withClient { client in
            let card = try await client.carryCard()
            let cards = try place.cards(without: card.deviceID)
            let recipients = try await recipients(client, cards)
            guard place.isDirectory || recipients.count == 1 else {
                throw APIError(
                    .invalidValue,
                    "A file is for one laptop, and \(recipients.count) are meant: name one with --for, or a directory.")
            }
            var written: [CarriedOutReport] = []
            for recipient in recipients {
                let target = place.file(from: card.name, to: recipient)
                written.append(try await write(to: recipient, target, cards, client))
            }
            if place.isDirectory { try place.leave(card) }
            return written
        }
        if options.json { return try StandardOutput.json(written) }
        guard !written.isEmpty else {
            return StandardOutput.say(
                "This laptop knows nobody yet to whom it could carry: its card lies there now. Carry out on the other laptop, then here again."
            )
        }
        for one in written {
            StandardOutput.say("For \(Text.plain(one.name)): \(one.path) (\(Formats.bytes(one.bytes))).")
        }
    }

    private func recipients(_ client: LocalClient, _ cards: [String]) async throws -> [CarryRecipient] {
        let request = CarryRecipientsRequest(names: names.isEmpty ? nil : names, cards: cards)
        let recipients = try await client.carryRecipients(request)
        guard !names.isEmpty || recipients.count <= Self.mostUnnamed else {
            throw APIError(
                .invalidValue, "\(recipients.count) laptops are known: name those that it is for with --for.")
        }
        return recipients
    }

    private func write(
        to recipient: CarryRecipient, _ target: String, _ cards: [String], _ client: LocalClient
    ) async throws -> CarriedOutReport {
        let request = CarryOutRequest(to: recipient.deviceID, cards: cards, jobs: jobs.isEmpty ? nil : jobs)
        let progress = ProgressBar()
        var bytes = 0
        // Somebody else reads it on the other laptop, and only that laptop can.
        try await WholeFile.watched(path: target, isReplacing: true, isPrivate: false) { file in
            defer { progress.clear() }
            try await client.carryOut(request) { piece in
                try file.write(piece)
                bytes += piece.count
                progress.show(bytes, of: nil, Formats.bytes(bytes))
            }
            try file.publish()
        }
        return CarriedOutReport(
            deviceID: recipient.deviceID, name: recipient.name ?? String(recipient.deviceID.prefix(8)), path: target,
            bytes: bytes)
    }
}

/// One file that was written.
struct CarriedOutReport: Encodable {
    let deviceID: String
    let name: String
    let path: String
    let bytes: Int
}
