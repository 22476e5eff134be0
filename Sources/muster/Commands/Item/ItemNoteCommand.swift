import ArgumentParser
import LocalAPI

struct ItemNoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "note",
        abstract: "Add a remark to an item that no edit can drop.",
        discussion: "Example:\n  muster item note \"Smith, 12 Elm Street\" 2000000000091 \"left leg scratched\"")

    @OptionGroup var job: JobArgument
    @OptionGroup var item: ItemArgument

    @Argument(help: "The remark.")
    var text: String

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let noted = try await options.withClient { client in
            try await client.addNote(NoteRequest(text: text), item: item.reference, job: job.reference)
        }
        try options.report(noted, "Added the remark to \(item.title).")
    }
}
