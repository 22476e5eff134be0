import ArgumentParser
import LocalAPI

struct JobLogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show the timeline: who changed what, when, from what to what.",
        discussion: """
            Each entry says what its author saw and wrote. (replaced): somebody who saw that value has written \
            another. (lost): another value won whose author had not seen it; 'muster job conflicts' settles that. \
            The order is the same on every laptop: by what the author knew of the server's order (anchor), then by \
            time, laptop and place.

            A program gets a line for each, with tabs between its time, author, item and what was done.

            Example:
              muster job log "Smith, 12 Elm Street" --item 2000000000091
            """)

    @OptionGroup var job: JobArgument

    @Option(
        name: .long, help: "Only this item's changes: its id, the beginning or end of one, or its barcode.",
        completion: Offers.items)
    var item: String?

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let terminal = Terminal.output
        try await options.withClient { client in
            if options.json {
                var output = JSONArrayOutput()
                try await client.log(job: job.reference, item: item) { try output.add($0) }
                output.finish()
            } else {
                var day = ""
                try await client.log(job: job.reference, item: item) { change in
                    let line = ChangeLine(change)
                    guard !terminal.isPiped else { return StandardOutput.lines([Table.exactLine(line.cells)]) }
                    if line.day != day { StandardOutput.lines([terminal.style.bold(line.day)]) }
                    day = line.day
                    StandardOutput.lines(line.lines(width: terminal.width, style: terminal.style, isOfKnownDay: true))
                }
            }
        }
    }
}
