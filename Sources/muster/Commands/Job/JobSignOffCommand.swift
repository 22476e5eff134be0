import ArgumentParser
import LocalAPI

struct JobSignOffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-off",
        abstract: "Let the customer sign for the inventory as it stands.",
        usage: """
            muster job sign-off <job> --name <name> [--digest <digest>]
                                [--json] [--socket <path>]
            """,
        discussion: """
            What is signed is the digest that 'muster job summary' shows: every laptop with the same inventory shows \
            the same one. With --digest the signature is refused if the inventory has changed since it was shown. The \
            job has to be awaitingSignature. The signature is kept here and goes to the server when this laptop, or \
            one that it meets, has the internet.

            Example:
              muster job sign-off "Smith, 12 Elm Street" --name "J. Smith"
            """)

    @OptionGroup var job: JobArgument

    @Option(help: ArgumentHelp("Who signs.", valueName: "name"))
    var name: String

    @Option(help: ArgumentHelp("The digest that was shown (default: the present one).", valueName: "digest"))
    var digest: String?

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let signed = try await options.withClient {
            try await $0.signOff(SignOffRequest(name: name, digest: digest), job: job.reference)
        }
        if options.json { return try StandardOutput.json(signed) }
        var facts = Facts()
        facts.add("Signed", "by \(name); 'muster queue list' shows what waits for the server")
        facts.add("Digest", signed.digest)
        facts.print(on: .output)
    }
}
