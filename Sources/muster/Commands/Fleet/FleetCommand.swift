import ArgumentParser
import Identity
import LocalAPI

struct FleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Let laptops into the company's fleet, and show this one's place in it.",
        discussion: """
            Laptops of one fleet exchange inventories; nobody else gets in.

            Example, on the office's laptop first, and then on a new one:
              muster fleet init
              muster fleet invite
              muster fleet join 7K3M-QX0T-94WD-BZES
            """,
        subcommands: [
            FleetInitCommand.self, FleetInviteCommand.self, FleetJoinCommand.self, FleetListCommand.self,
            FleetShowCommand.self, FleetRevokeCommand.self, FleetRequestCommand.self, FleetSignCommand.self,
            FleetInstallCommand.self, FleetRecoverCommand.self, FleetLeaveCommand.self,
        ])
}

struct FleetShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show this laptop's place in its fleet, or another one's.",
        discussion: "Example:\n  muster fleet show tom-laptop")

    @Argument(
        help: "A laptop's id, the beginning of one, or its name. Default: this one.", completion: Offers.laptops)
    var device: String?

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        guard let device else {
            let (status, devices) = try await options.withClient { (try await $0.fleet(), try await $0.fleetDevices()) }
            if options.json { return try StandardOutput.json(status) }
            return status.facts(among: devices).print(on: .output)
        }
        let devices = try await options.withClient { try await $0.fleetDevices() }
        let found = try devices.named(device)
        if options.json { return try StandardOutput.json(found) }
        found.facts(among: devices).print(on: .output)
    }
}

struct FleetRequestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "request",
        abstract: "Print what an issuer makes this laptop's certificate from.",
        discussion: "Example:\n  muster fleet request > tom.request")

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let status = try await options.withClient { try await $0.fleet() }
        if options.json { return try StandardOutput.json(status) }
        StandardOutput.write(status.request)
    }
}

struct FleetInstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Take up the certificates that were made for this laptop.",
        discussion: "Example:\n  muster fleet install tom.pem")

    @Argument(help: ArgumentHelp("What 'muster fleet sign' printed; - for standard input.", valueName: "file"))
    var file: String

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let certificates = try InputFile(path: file).text()
        try options.print(try await options.withClient { try await $0.installCertificates(certificates) })
    }
}

struct FleetLeaveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave",
        abstract: "Give up this laptop's place in its fleet; its inventories stay.",
        discussion: "Example:\n  muster fleet leave")

    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        try confirmation.confirm(
            "This laptop will exchange nothing with the fleet's others until it joins again. What it has stays on it.",
            "Leave the fleet?")
        try options.print(try await options.withClient { try await $0.leaveFleet() })
    }
}

extension GlobalOptions {
    /// What every change of a laptop's place in its fleet ends with.
    fileprivate func print(_ status: FleetStatus) throws {
        if json { return try StandardOutput.json(status) }
        status.facts.print(on: .output)
    }
}

extension FleetStatus {
    var facts: Facts { facts(among: []) }

    /// - Parameter devices: those by whose names the laptops are told of.
    func facts(among devices: [FleetDevice]) -> Facts {
        var facts = Facts()
        let own = devices.first { $0.deviceID == deviceID }
        facts.add("Laptop", devices.title(of: ShortIDs.random(deviceID)))
        if let own { facts.add("Key words", own.keyWords) }
        facts.add("Fleet", fleetID ?? "none; let this laptop join one")
        if let rootID { facts.add("Whole id", rootID) }
        if isRevoked { facts.add("Revoked", "yes; 'muster fleet leave', then join by a new code") }
        guard let role, let validUntil, let issuerID else { return facts }
        facts.add("Role", isIssuer ? "\(role), may let others in" : role)
        facts.add("Valid until", Formats.time(validUntil))
        facts.add("Let in by", deviceID.hasPrefix(issuerID) ? "itself, as an issuer" : devices.title(of: issuerID))
        return facts
    }
}

extension InputFile {
    /// All of a short text.
    func text() throws -> String {
        var bytes: [UInt8] = []
        while let piece = try next() {
            bytes += piece
            guard bytes.count <= 1 << 20 else {
                throw APIError(.tooLarge, "The file is too long to hold certificates: check its name.")
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
