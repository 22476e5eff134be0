import ArgumentParser
import Glibc
import Identity
import LocalAPI
import Synchronization
import Systemd
import UnixSignals

struct FleetInviteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Let one laptop, or the server, in by a code, without internet.",
        usage: "muster fleet invite [--role <role>] [--yes] [--json] [--socket <path>]",
        discussion: """
            Prints a code for whoever sets the new laptop up, and waits. Both laptops have to be in one network. When \
            the new one has proved that it knows the code, compare its key words with those on its screen, and say yes. \
            The code is good for one laptop and ten minutes. With --role server it is good for the company's server \
            alone, and for no laptop.

            Example, and on the new laptop: muster fleet join 7K3M-QX0T-94WD-BZES
              muster fleet invite
            Example, and on the server: muster-channel fleet join 7K3M-QX0T-94WD-BZES
              muster fleet invite --role server
            """)

    @Option(
        help: ArgumentHelp(
            "What it may do: office, lead, member or reader; or server. (default: member)", valueName: "role"),
        completion: Offers.roles(without: [.proxy]), transform: FleetRole.parser(without: [.proxy]))
    var role = FleetRole.member

    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        try await options.withClient { client in
            let interruption = await Interruption()
            let opened = try await client.openInvitation(InvitationRequest(role: role.rawValue))
            let name = opened.name
            try show(opened)
            let status = try await interruption.handled {
                try await admit(name, client)
            } onInterrupt: {
                _ = try? await client.withdrawInvitation(name)
                StandardError.say("the invitation was taken back.", after: "\n")
            }
            if options.json { return try StandardOutput.jsonLine(status) }
            guard let newcomer = status.newcomer else { return }
            StandardOutput.say(
                "\(Text.plain(newcomer.name)) (\(newcomer.keyWords)) is in the fleet now, as \(status.role).")
        }
    }

    private func show(_ opened: InvitationStatus) throws {
        if options.json { return try StandardOutput.jsonLine(opened) }
        let code = opened.code ?? ""
        if Terminal.output.isInteractive { StandardOutput.lines(QRCode.lines(of: code)) }
        let program = role == .server ? "On the server: muster-channel" : "On the new laptop: muster"
        StandardOutput.lines(["", "  \(code)", "", "\(program) fleet join \(code)"])
        StandardOutput.say("Waiting for it, ten minutes at most; Ctrl-C takes the invitation back.")
    }

    /// Nobody who expects a laptop lets a server in.
    private var becoming: String {
        role == .server ? " and would be the company's server, which every laptop of the fleet believes" : ""
    }

    /// Waits for the newcomer, asks whether it may come in, and says so.
    private func admit(_ name: String, _ client: LocalClient) async throws -> InvitationStatus {
        while true {
            let status = try await client.invitation(name)
            switch status.state {
            case .unused: try await Task.sleep(for: .milliseconds(300))
            case .admitted: return status
            case .ended: throw APIError(.unavailable, status.reason ?? "The invitation has ended; open a new one.")
            case .waiting:
                guard let newcomer = status.newcomer else { continue }
                do {
                    try confirmation.confirm(
                        """
                        \(newcomer.name) at \(newcomer.address) knows the code\(becoming). Its key words: \
                        \(newcomer.keyWords).
                        """,
                        "Are they the ones on its screen, and may it come in as \(status.role)?")
                } catch {
                    _ = try await client.withdrawInvitation(name)
                    throw error
                }
                return try await client.admit(AdmissionRequest(deviceID: newcomer.deviceID), to: name)
            }
        }
    }
}

struct FleetJoinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "Join a fleet by a code that one of its laptops has printed.",
        discussion: """
            Both laptops have to be in one network. Whoever invites is shown this laptop's key words and asked whether \
            it may come in.

            Example:
              muster fleet join 7K3M-QX0T-94WD-BZES
            """)

    @Argument(help: "16 characters; hyphens, spaces and capitals do not matter.")
    var code: [String]

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        try await options.withClient { client in
            let interruption = await Interruption()
            let begun = try await client.join(JoinRequest(code: code.joined()))
            StandardError.write(
                "This laptop's key words: \(begun.keyWords)\nLooking for the laptop that invites it.\n")
            try await interruption.handled {
                try await wait(client)
            } onInterrupt: {
                _ = try? await client.endJoin()
                StandardError.say("this laptop does not join.", after: "\n")
            }
            let status = try await client.fleet()
            if options.json { return try StandardOutput.json(status) }
            status.facts.print(on: .output)
        }
    }

    private func wait(_ client: LocalClient) async throws {
        var inviter: String?
        while true {
            let status = try await client.joinStatus()
            switch status.state {
            case .joined: return
            case .failed: throw APIError(.unavailable, status.reason ?? "Joining has failed; try again.")
            case .idle: throw APIError(.unavailable, "The daemon does not join any more; begin again.")
            case .waiting:
                if inviter != status.inviter, let name = status.inviter {
                    StandardError.write("\(Text.plain(name)) invites; waiting until its person has said yes.\n")
                }
                inviter = status.inviter
            case .searching: inviter = nil
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }
}

/// Ctrl-C, and a polite kill, while something waits for a person.
struct Interruption {
    private let signals: UnixSignalsSequence

    /// From now on neither ends the program by itself.
    init() async {
        signals = await UnixSignalsSequence(trapping: [.sigint, .sigterm])
    }

    /// Runs the body; when it is interrupted, or was before, tidies up and ends the program.
    func handled<Value>(
        _ body: () async throws -> Value, onInterrupt tidyUp: @escaping @Sendable () async -> Void
    ) async throws -> Value {
        let isInterrupted = Flag()
        let watch = Task { [signals] in
            for await _ in signals {
                isInterrupted.value.withLock { $0 = true }
                await tidyUp()
                exit(SystemExit.different.rawValue)
            }
        }
        defer { watch.cancel() }
        do {
            return try await body()
        } catch  where isInterrupted.value.withLock({ $0 }) {
            // It has seen what tidying up changes; that ends the program.
            await watch.value
            throw error
        }
    }

    private final class Flag: Sendable {
        let value = Mutex(false)
    }
}
