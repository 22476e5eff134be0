import ArgumentParser
import CRDT
import HTTPCoding
import Identity
import LocalAPI

struct FleetListCommand: ListCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the fleet's laptops that this one has met or let in, and the revoked ones.",
        usage: ListOptions.usage("muster fleet list"),
        discussion: """
            \(FleetDevice.columns().described())

            Example:
              muster fleet list --sort valid-until
            """,
        aliases: ["ls"])

    static var columnNames: [String] { FleetDevice.columns().map(\.key) }

    @OptionGroup var list: ListOptions
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let devices = try await options.withClient { try await $0.fleetDevices() }
        try options.print(
            devices, list, columns: FleetDevice.columns(among: devices),
            none: "This laptop is in no fleet: see 'muster fleet join --help'.")
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

            What it wrote until now stays. Of a job that this laptop holds, or another lead's or the office's, what comes of it \
            later does not count: it waits for a person in 'muster job late'.

            Example:
              muster fleet revoke tom-laptop
            """)

    @Argument(
        help: "A laptop's id, the beginning of one, or its name: see 'muster fleet list'.", completion: Offers.laptops)
    var device: String

    @Option(help: ArgumentHelp("The fleet's root, which signs it instead of this laptop.", valueName: "file"))
    var root: String?

    @OptionGroup var passphrase: PassphraseOption
    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        try await options.withClient { client in
            let devices = try await client.fleetDevices()
            // One that nobody here has met can be named in full.
            let isWhole = DeviceID(device.lowercased()) != nil
            let found = try isWhole ? devices.first { $0.deviceID == device.lowercased() } : devices.named(device)
            guard found?.state != .own else {
                throw APIError(
                    .invalidValue,
                    "This laptop does not revoke itself: see 'muster fleet leave', or use another issuer.")
            }
            let id = found?.deviceID ?? device.lowercased()
            let name = found?.title ?? device
            if !options.json, let found, found.state == .revoked {
                return StandardOutput.say("\(Text.plain(name)) is \(found.words) already.")
            }
            let others =
                found?.role == "member" || found?.role == "reader" ? "" : ", and every laptop that it has let in"
            try confirmation.confirm("\(name) will be shut out of the fleet for good\(others).", "Revoke it?")
            let revoked = try await client.revoke(try await request(id, client))
            if options.json {
                try StandardOutput.json(revoked)
            } else {
                Table(of: revoked, showing: FleetDevice.columns().filter(\.isUsual)).print(on: .output)
            }
            if !options.json {
                StandardOutput.write("\n")
                StandardOutput.say(
                    "Shut out for good: \(Text.plain(name)). Laptops that are away hear it when they meet others.")
                StandardOutput.say("What comes of its work from now on waits in 'muster job late'.")
            }
        }
    }

    private func request(_ id: String, _ client: LocalClient) async throws -> RevocationRequest {
        guard let root, let device = DeviceID(id) else { return RevocationRequest(device: id) }
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

extension FleetDevice {
    /// - Parameter devices: those by whose names the others are told of.
    fileprivate static func columns(among devices: [FleetDevice] = []) -> [ListColumn<FleetDevice>] {
        [
            ListColumn(.text("LAPTOP")) { Cell($0.name) },
            ListColumn(.whole("ID")) { .id($0.deviceID) },
            ListColumn(.whole("ROLE").optional) { Cell($0.role) },
            ListColumn(.whole("STATE")) { Cell($0.words) },
            ListColumn(.whole("VALID UNTIL").optional) { .time($0.validUntil) },
            ListColumn(.whole("KEY WORDS").optional, isUsual: false) { Cell($0.keyWords) },
            ListColumn(.whole("LET IN BY").optional, isUsual: false) { device in
                device.issuerID.map { Cell(shown: devices.title(of: $0), exact: $0) } ?? .none
            },
        ]
    }
}

extension [FleetDevice] {
    /// Those that a person may mean by a text.
    func matching(_ text: String) -> [FleetDevice] {
        let named = filter { $0.name == text }
        let present = named.filter { $0.state != .revoked }
        if !named.isEmpty { return present.isEmpty ? named : present }
        let found = text.isEmpty ? [] : filter { $0.deviceID.hasPrefix(text.lowercased()) }
        // Of fewer letters nobody can tell whether they are a slip: as the daemon does.
        return found.count > 1 || text.utf8.count >= 4 ? found : []
    }

    /// A laptop as people know it: `anna (3e6969fc)`, or the short id alone.
    func title(of shortID: String) -> String {
        let name = first { $0.deviceID.hasPrefix(shortID) }?.name
        return name.map { "\($0) (\(shortID))" } ?? shortID
    }

    /// The one that a person means.
    func named(_ text: String) throws -> FleetDevice {
        let found = matching(text)
        guard found.count == 1 else {
            let ids = found.map { ShortIDs.random($0.deviceID) }.joined(separator: ", ")
            let problem =
                found.isEmpty ? "No laptop is known as '\(text)'" : "Several laptops are known as '\(text)' (\(ids))"
            throw APIError(.invalidValue, "\(problem): see 'muster fleet list', and give the id.")
        }
        return found[0]
    }
}

extension FleetDevice {
    /// - Parameter devices: those by whose names the others are told of.
    func facts(among devices: [FleetDevice]) -> Facts {
        var facts = Facts()
        facts.add("Laptop", "\(name ?? "name unknown") (\(ShortIDs.random(deviceID)))")
        facts.add("Key words", keyWords)
        facts.add("Role", role ?? "unknown")
        facts.add("State", words)
        facts.add("Valid until", Formats.time(validUntil))
        if let issuerID { facts.add("Let in by", devices.title(of: issuerID)) }
        if let revokedBy { facts.add("Revoked by", devices.title(of: revokedBy)) }
        return facts
    }

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
