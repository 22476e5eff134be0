import ArgumentParser

struct PeersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers",
        abstract:
            "List the laptops that were found or are connected, and how far behind they are; add one by its address.",
        discussion: """
            Without a word it lists them.

            Examples:
              muster peers
              muster peers --sort state
              muster peers add 192.168.1.20
            """,
        subcommands: [
            PeersListCommand.self, PeersAddCommand.self, PeersRemoveCommand.self, PeersAddressCommand.self,
        ], defaultSubcommand: PeersListCommand.self, aliases: ["ps"])
}
