import ArgumentParser
import Checkup
import HTTPCoding
import LocalAPI
import Systemd

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write a file to attach to a complaint: how this laptop is, without the customer's data.",
        discussion: """
            The file is JSON, made to be read before it is sent: what the doctor finds, versions, settings, peers, \
            the clock, the queue and its log, the size of the store, and the last lines of the daemon's log. \
            Ids of jobs, and names and addresses of laptops, are in it. What people wrote is not: no names of jobs, \
            customers or people, no items, notes, barcodes or values. --with-customer-data adds all of it.

            Works without a daemon, too: with what the doctor sees from outside and the last lines that systemd keeps of \
            the daemon, by the same rule; "missing" says what is not in it, and why. A file that is there is not written over.

            Example:
              muster report complaint.json
            """)

    @Argument(help: ArgumentHelp("The file to make.", valueName: "file"), completion: .file())
    var file: String

    @Flag(help: "Add what people wrote: jobs, items, notes, people.")
    var withCustomerData = false

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        // Before anything is asked: nobody is to wait for a file that cannot be made.
        try WholeFile.checkName(file)
        let report = await ReportCollector(options: options).report(withCustomerData: withCustomerData)
        let text = String(decoding: try JSON.encode(report, pretty: true), as: UTF8.self)
        try WholeFile.create(file, text + "\n")
        if options.json {
            return try StandardOutput.json(
                Written(file: file, hasCustomerData: withCustomerData, missing: report.missing))
        }
        StandardOutput.say(
            "\(file) is written\(withCustomerData ? ", with the customer's data" : ", without the customer's data"): read it before you send it."
        )
        for missing in report.missing { StandardOutput.say("Missing: \(Text.plain(missing)).") }
    }

    /// What `--json` prints.
    private struct Written: Encodable {
        let file: String
        let hasCustomerData: Bool
        let missing: [String]
    }
}
