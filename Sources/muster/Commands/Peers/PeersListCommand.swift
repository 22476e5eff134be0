import ArgumentParser
import LocalAPI

struct PeersListCommand: ListCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the laptops that were found or are connected, and how far behind they are.",
        usage: ListOptions.usage("muster peers list"),
        discussion: """
            \(columns.described())

            Example:
              muster peers list --sort state
            """,
        aliases: ["ls"])

    static var columnNames: [String] { columns.map(\.key) }

    @OptionGroup var list: ListOptions
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let (peers, fleet, discovery) = try await options.withClient { client in
            let peers = try await client.peers()
            guard peers.isEmpty else { return (peers, FleetStatus?.none, DiscoveryStatus?.none) }
            return (peers, try? await client.fleet(), try? await client.status().discovery)
        }
        try options.print(
            peers, list, columns: Self.columns,
            none: "No other laptop was found yet: \(Company.nextStep(fleet, discovery)).")
        if !options.json, !peers.isEmpty, SyncState(peers) == .notConnected {
            StandardOutput.remark("No laptop is connected.")
        }
        guard !options.json, list.isUsual, !Terminal.output.isPiped else { return }
        for peer in peers {
            guard let reason = peer.reason else { continue }
            // As the table above it, within the width that was asked for.
            let sentence = "\(Text.plain(peer.address)) is not reached: \(Text.plain(reason))"
            StandardOutput.lines(Text.wrapped(sentence, to: Terminal.output.width))
        }
    }

    private static var columns: [ListColumn<PeerStatus>] {
        [
            ListColumn(.text("LAPTOP")) { Cell($0.name) },
            ListColumn(.whole("ID").optional) { .id($0.deviceID) },
            ListColumn(.text("ADDRESS")) { Cell($0.address) },
            ListColumn(.whole("STATE")) { Cell($0.syncDescription) },
            ListColumn(.text("REASON").optional, isUsual: false) { Cell($0.reason) },
            ListColumn(.number("ROUND TRIP").optional) { peer in
                peer.roundTripMilliseconds.map { Cell(shown: Formats.milliseconds($0), exact: "\($0)") } ?? .none
            },
            ListColumn(.whole("HEARD").optional, isUsual: false) { .time($0.lastHeardAt) },
            ListColumn(.whole("FOUND BY").optional, isUsual: false) { Cell($0.origin.rawValue) },
            ListColumn(.number("SENT").optional, isUsual: false) { .count($0.bytesSent) },
            ListColumn(.number("RECEIVED").optional, isUsual: false) { .count($0.bytesReceived) },
        ]
    }
}
