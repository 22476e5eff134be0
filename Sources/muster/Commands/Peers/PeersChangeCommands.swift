import ArgumentParser
import LocalAPI

struct PeersAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Connect to a laptop by its address, now and after each start of the daemon.",
        discussion: """
            For networks in which laptops do not find each other by themselves. What to type, the other laptop says with \
            'muster peers address'. Without a port 7473 is meant. IPv6 addresses stand in brackets, with their interface \
            where they begin with fe80.

            Examples:
              muster peers add 192.168.1.20
              muster peers add anna-laptop.local:7473
              muster peers add [fe80::1%eth0]:7473
            """)

    @OptionGroup var address: AddressArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let request = AddPeerRequest(address: address.text, keep: true)
        let (added, isInFleet) = try await options.withClient {
            (try await $0.addPeer(request), try await $0.fleet().fleetID != nil)
        }
        if options.json { return try StandardOutput.json(added) }
        let address = Text.plain(added.address)
        StandardOutput.say(
            isInFleet
                ? "\(address) is dialled now, and after each restart."
                : "\(address) is kept, and dialled once this laptop is in a fleet.")
    }
}

struct PeersRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Do not connect any more to an address that was added.",
        discussion: """
            An address of the daemon's settings is taken out there. A laptop that is found by itself, or that dials this \
            one, goes on being connected.

            Example:
              muster peers remove 192.168.1.20
            """,
        aliases: ["rm"])

    @OptionGroup var address: AddressArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let removed = try await options.withClient { try await $0.removePeer(address.text) }
        if options.json { return try StandardOutput.json(removed) }
        StandardOutput.say("\(Text.plain(removed.address)) is not dialled any more.")
    }
}

struct AddressArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("HOST or HOST:PORT.", valueName: "address"))
    var text: String

    func validate() throws {
        // It becomes a part of a path.
        if text.isEmpty { throw ValidationError("Name the address, for example 192.168.1.20.") }
    }
}
