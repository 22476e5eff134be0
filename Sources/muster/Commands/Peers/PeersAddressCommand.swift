import ArgumentParser
import LocalAPI

/// A command of its own and no option of the list: this laptop is none of its peers.
struct PeersAddressCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "address",
        abstract: "Show where other laptops reach this one, and what to type there.",
        discussion: """
            The likeliest address stands first, those of tunnels and of this machine's containers last. At a terminal the \
            words to type come as a QR code, too.

            Example:
              muster peers address
            """)

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let (addresses, fleet) = try await options.withClient { client in
            let addresses = try await client.ownAddresses()
            return (addresses, addresses.isEmpty ? try? await client.fleet() : nil)
        }
        if options.json { return try StandardOutput.json(addresses) }
        guard let first = addresses.first else {
            return StandardOutput.remark(
                fleet?.fleetID == nil
                    ? "Nobody can connect to this laptop yet: join a fleet with 'muster fleet join CODE'."
                    : "Nobody can connect to this laptop: connect it to a network, and see 'muster doctor'.")
        }
        guard !Terminal.output.isPiped else { return StandardOutput.lines(addresses.map(\.address)) }
        let words = "muster peers add \(first.address)"
        if Terminal.output.isInteractive { StandardOutput.lines(QRCode.lines(of: words)) }
        StandardOutput.lines(["", "  \(words)", ""])
        for other in addresses.dropFirst() {
            StandardOutput.lines(["Else: \(other.address) (\(other.interface)\(Self.remark(other.kind)))"])
        }
    }

    private static func remark(_ kind: OwnAddress.Kind) -> String {
        switch kind {
        case .network: ""
        case .tunnel: ", a tunnel"
        case .container: ", this machine's containers"
        }
    }
}
