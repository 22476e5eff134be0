import ArgumentParser
import CRDT
import HTTPCoding
import Identity
import LocalAPI

struct FleetListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the fleet's laptops that this one has met or let in, and the revoked ones.",
        discussion: "Example:\n  muster fleet list")

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        try options.print(devices: try await options.withClient { try await $0.fleetDevices() })
    }
}

struct FleetRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Shut a laptop out of the fleet for good.",
        usage: "muster fleet revoke <device> [--root <file>] [--yes] [--json]",
        discussion: """
            Every laptop that hears of it closes its connections with that one within two seconds, and whoever that one \
            has let in is shut out, too. Only a laptop that lets others in can do it; with --root, every laptop can.

            Example:
              muster fleet revoke tom-laptop
            """)

    @Argument(help: "A laptop's id, the beginning of one, or its name: see 'muster fleet list'.")
    var device: String

    @Option(help: ArgumentHelp("The fleet's root, which signs it instead of this laptop.", valueName: "file"))
    var root: String?

    @OptionGroup var passphrase: PassphraseOption
    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        try await options.withClient { client in
            let devices = try await client.fleetDevices()
            let found = devices.filter { $0.name == device || $0.deviceID.hasPrefix(device.lowercased()) }
            let name = found.count == 1 ? found[0].title : device
            try confirmation.confirm(
                "\(name) will be shut out of the fleet for good, and every laptop that it has let in.", "Revoke it?")
            let revoked = try await client.revoke(try await request(among: found, client))
            try options.print(devices: revoked)
        }
    }

    private func request(among found: [FleetDevice], _ client: LocalClient) async throws -> RevocationRequest {
        guard let root else { return RevocationRequest(device: device) }
        guard let device = DeviceID(found.count == 1 ? found[0].deviceID : device.lowercased()) else {
            throw APIError(.invalidValue, "'\(device)' is no laptop's id; give all of its 64 digits.")
        }
        let now = try await client.fleet().time.milliseconds
        let text = try InputFile(path: root).text()
        return try FleetFailure.saying {
            let sealed = try SealedRoot(text: text)
            let key = try sealed.open(passphrase: passphrase.read(isNew: false))
            let revocation = try Revocation(
                of: device, by: sealed.certificate, key: key, fleet: key.publicKey, now: now)
            return RevocationRequest(revocation: revocation.pem)
        }
    }
}

extension GlobalOptions {
    fileprivate func print(devices: [FleetDevice]) throws {
        if json { return try StandardOutput.json(devices) }
        var table = Table([
            .text("LAPTOP"), .whole("ID"), .whole("ROLE"), .whole("STATE"), .whole("VALID UNTIL"),
        ])
        for device in devices {
            table.add([
                device.name ?? "–", ShortIDs.random(device.deviceID), device.role ?? "–", device.words,
                Formats.time(device.validUntil),
            ])
        }
        table.print(on: .output)
    }
}

extension FleetDevice {
    /// As it is called in a sentence.
    fileprivate var title: String {
        "\(name ?? "The laptop") (\(ShortIDs.random(deviceID)), \(role ?? "role unknown"))"
    }

    fileprivate var words: String {
        switch state {
        case .own: "this laptop"
        case .member: isConnected ? "connected" : "away"
        case .revoked: revokedAt.map { "revoked \(Formats.time($0))" } ?? "revoked"
        }
    }
}
