import ArgumentParser
import LocalAPI

struct ItemRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a new item that stands for a removed one, and print its id.",
        discussion: "Example:\n  muster item restore \"Smith, 12 Elm Street\" 01953b2e-7c31-7abc-8def-0123456789ab")

    @OptionGroup var job: JobArgument
    @OptionGroup var item: ItemArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let restored = try await options.withClient { client in
            try await client.restoreItem(item.reference, job: job.reference)
        }
        if options.json { try StandardOutput.json(restored) } else { StandardOutput.write(restored.id + "\n") }
    }
}
