import ArgumentParser
import LocalAPI
import Systemd

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Bring in what a backup holds and this laptop does not, while the daemon runs.",
        discussion: """
            Whatever was lost comes back: jobs, items, history, and requests to the server that nobody else has. It is \
            taken in as another laptop's work would be, so each change must be signed by its author, and everybody gets it. \
            What was written since the backup stays: this undoes no mistake ('muster item restore' and 'muster job log' \
            help there), brings no removed job back, and removes nothing. A laptop that takes the place of a lost \
            one joins the fleet first, restores, and is put on the jobs by a lead ('muster job assign'). The same backup \
            can be restored again; what is here already is passed over.

            Example:
              muster restore /media/stick/monday.backup
            """)

    @Argument(help: "A file that 'muster backup' has written, packed by gzip or not.", completion: .file())
    var file: String

    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let upload = try UploadedFile(path: file, isSentAgain: true)
        let preview = try await send(upload, isPreview: true)
        guard preview.bringsAnything else { return try tell(preview) }
        try confirmation.confirm(preview.meaning, "Take it in?")
        let report = try await send(upload, isPreview: false)
        try tell(report)
        if !report.leftOut.isEmpty { throw Stop(code: .badData) }
    }

    private func send(_ upload: UploadedFile, isPreview: Bool) async throws -> RestoreReport {
        try await options.withPatientClient { client in
            try await upload.send { try await client.restore(isPreview: isPreview, $0) }
        }
    }

    private func tell(_ report: RestoreReport) throws {
        if options.json { return try StandardOutput.json(report) }
        for sentence in report.sentences { StandardOutput.say(sentence) }
        for left in report.leftOut {
            let place = "job \(ShortIDs.one(left.job)), journal \(ShortIDs.random(left.replicaID))"
            StandardError.say("\(place): \(left.sentence)")
        }
    }
}

extension RestoreReport {
    fileprivate var bringsAnything: Bool { !restored.isEmpty }

    private var origin: String {
        let laptop = isOwn ? "this laptop" : "laptop \(ShortIDs.random(deviceID))"
        let age = newestChangeAt.map { ", with changes up to \(Formats.exactTime($0))" } ?? ""
        return "The backup is of \(laptop)\(age); it has \(counted(jobs, "job"))."
    }

    /// What it brings, for whoever has to say whether that is meant.
    fileprivate var meaning: String {
        let new = restored.count { $0.isNew }
        let more = restored.count - new
        var parts: [String] = []
        if new > 0 { parts.append("\(counted(new, "job")) that \(new == 1 ? "is" : "are") not here") }
        if more > 0 { parts.append("more of \(counted(more, "job")) that \(more == 1 ? "is" : "are") here") }
        // Whatever the file says of its length: a sum that is too great stays as it was.
        let changes = restored.reduce(0) { max($0, $0 &+ Int(clamping: $1.transforms)) }
        let goesOn = endedThere.isEmpty ? "" : " \(endedSentence)"
        return
            "\(origin) It holds \(parts.joined(separator: " and ")): \(counted(changes, "change")). All of it is added, on "
            + "this laptop and on those that may have it; nothing that is here is taken away.\(asked)\(goesOn)"
    }

    private var asked: String {
        guard !requests.isEmpty else { return "" }
        let kinds = Set(requests.map { Formats.words($0.kind) }).sorted().joined(separator: ", ")
        return
            " \(counted(requests.count, "request")) to the server that \(requests.count == 1 ? "is" : "are") only there "
            + "(\(kinds)) will be made again, once."
    }

    private var endedSentence: String {
        let names = endedThere.prefix(5).map { "\"\($0.name)\"" }.joined(separator: ", ")
        let verb = endedThere.count == 1 ? "it was" : "they were"
        return
            "\(counted(endedThere.count, "job")) had ended in the backup (\(names)): \(verb) left as \(endedThere.count == 1 ? "it is" : "they are"), here "
            + "and elsewhere."
    }

    fileprivate var sentences: [String] {
        let ended = endedThere.isEmpty ? [] : [Text.plain(endedSentence)]
        if !bringsAnything { return [origin, "All that it holds is here already."] + ended }
        var lines = ["Took in \(counted(Int(clamping: transforms), "change")) of \(counted(restored.count, "job"))."]
        lines += restored.prefix(20).map {
            let more = $0.isNew ? "back" : "\(counted(Int(clamping: $0.transforms), "change")) more"
            return "\(Text.plain($0.name)) (\(ShortIDs.one($0.id))): \(more)"
        }
        if restored.count > 20 { lines.append("and \(restored.count - 20) more: 'muster job list' shows them.") }
        if !requests.isEmpty {
            let count = counted(requests.count, "request")
            lines.append("\(count) to the server will be made again: see 'muster queue list'.")
        }
        return lines + ended
    }
}

extension LeftOutJournal {
    fileprivate var sentence: String {
        switch reason {
        case .unvouched: "nobody of this fleet has written it, so it was left out."
        case .damaged: "what follows is not what its author has signed, so it was left out; another backup may have it."
        case .serversWord: "it is not what the server says, so it was left out; the server is asked again."
        case .forked: "it could not be put together with what is here; restore once more, nothing was lost."
        }
    }
}
