import ArgumentParser
import LocalAPI

struct PeersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers",
        abstract: "List the devices that were found or are connected, and how far behind they are.",
        discussion: "Example:\n  muster peers",
        aliases: ["ps"])

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let peers = try await options.withClient { try await $0.peers() }
        if options.json { return try StandardOutput.json(peers) }
        guard !peers.isEmpty else {
            return StandardOutput.write(
                "No other device was found yet; 'muster status' tells whether discovery is on.\n")
        }
        var table = Table([
            .text("DEVICE"), .whole("ID"), .text("ADDRESS"), .whole("STATE"), .number("ROUND TRIP"),
        ])
        for peer in peers {
            table.add(
                peer.name ?? "–", peer.deviceID.map(ShortIDs.random) ?? "–", peer.address, peer.syncDescription,
                Formats.milliseconds(peer.roundTripMilliseconds))
        }
        table.print(on: .output)
        if SyncState(peers) == .notConnected { StandardOutput.write("No device is connected.\n") }
    }
}
