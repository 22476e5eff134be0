import ArgumentParser
import Glibc
import HTTPCoding
import Identity
import LocalAPI

struct FleetInitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Begin a fleet: make its root, and let this laptop issue certificates.",
        usage: "muster fleet init [--root <file>] [--passphrase-file <file>] [--json]",
        discussion: """
            The root is made here and not in the daemon, and needs no network. Its file belongs on a USB stick in a \
            drawer; the recovery code, on paper, in another.

            Example:
              muster fleet init --root /media/usb/fleet-root.pem
            """)

    @Option(help: ArgumentHelp("Where the root goes.", valueName: "file"))
    var root = "fleet-root.pem"

    @OptionGroup var passphrase: PassphraseOption
    @OptionGroup var options: GlobalOptions

    struct Founded: Encodable {
        var fleet: FleetStatus
        var root: String
        var recoveryCode: String
    }

    func run() async throws {
        try await options.withClient { client in
            let status = try await client.fleet()
            guard status.fleetID == nil else {
                throw APIError(.invalidValue, "This laptop belongs to a fleet already: see 'muster fleet show'.")
            }
            let code = RecoveryCode()
            guard let key = code.rootKey else { throw APIError(.failed, "The root's key cannot be made: try again.") }
            let now = status.time.milliseconds
            let founded = try FleetFailure.saying {
                let authority = try CertificateAuthority.makeRoot(key, now: now)
                let issuer = try authority.issue(
                    .issuer, to: SigningRequest.key(inPEM: status.request), as: .office, now: now)
                return (authority.certificate, issuer)
            }
            let sealed = try FleetFailure.saying {
                try SealedRoot(key, founded.0, passphrase: passphrase.read(isNew: true))
            }
            try WholeFile.create(root, sealed.text)
            let enrolled: FleetStatus
            do {
                enrolled = try await client.installCertificates(founded.1.pem + founded.0.pem)
            } catch {
                // A root without a laptop would only be found years later.
                unlink(root)
                throw error
            }
            if options.json {
                return try StandardOutput.json(Founded(fleet: enrolled, root: root, recoveryCode: "\(code)"))
            }
            enrolled.facts.print(on: .output)
            StandardOutput.write("\n")
            StandardOutput.say("The fleet's root is in \(root): it belongs on a USB stick in a drawer.")
            StandardOutput.say("Recovery code, should the root or its passphrase be lost (shown only now):")
            StandardOutput.lines(["", "  \(code)", ""])
            StandardOutput.say("Who has it can let anybody in: write it down, and lock it away.")
        }
    }
}

struct FleetSignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Make a certificate for another laptop.",
        usage: "muster fleet sign <file> [--role <role>] [--root <file>] [--json]",
        discussion: """
            With --root the other laptop may let further ones in.

            Example:
              muster fleet sign tom.request > tom.pem
            """)

    @Argument(help: ArgumentHelp("What 'muster fleet request' printed there; - for standard input.", valueName: "file"))
    var file: String

    @Option(
        help: ArgumentHelp(
            "What it may do: office, lead, member or reader; server or proxy for the company's. (default: member)",
            valueName: "role"), completion: Offers.roles(), transform: FleetRole.parser())
    var role = FleetRole.member

    @Option(help: ArgumentHelp("The fleet's root: lets the other laptop let in further ones.", valueName: "file"))
    var root: String?

    @OptionGroup var passphrase: PassphraseOption
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let request = try InputFile(path: file).text()
        let certificates = try await options.withClient { client in
            guard let root else {
                return try await client.signCertificate(
                    SignCertificateRequest(request: request, role: role.rawValue))
            }
            let now = try await client.fleet().time.milliseconds
            let sealed = try InputFile(path: root).text()
            let pem = try FleetFailure.saying {
                let sealed = try SealedRoot(text: sealed)
                let key = try sealed.open(passphrase: passphrase.read(isNew: false))
                let authority = try CertificateAuthority(sealed.certificate, key: key, fleet: key.publicKey)
                let issuer = try authority.issue(.issuer, to: SigningRequest.key(inPEM: request), as: role, now: now)
                return issuer.pem + sealed.certificate.pem
            }
            return FleetCertificates(certificates: pem)
        }
        if options.json { return try StandardOutput.json(certificates) }
        StandardOutput.write(certificates.certificates)
    }
}

extension FleetRole {
    /// Reads what was typed; not every command takes each of them.
    static func parser(without others: [FleetRole] = []) -> @Sendable (String) throws -> FleetRole {
        { text in
            let known = allCases.filter { !others.contains($0) }
            if let role = known.first(where: { $0.rawValue == text }) { return role }
            throw ValidationError("take one of \(known.map(\.rawValue).joined(separator: ", ")).")
        }
    }
}

/// The passphrase of a fleet's root.
struct PassphraseOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read the root's passphrase from a file's first line, not from the terminal.", valueName: "file"))
    var passphraseFile: String?

    private static let leastLength = 8

    /// - Parameter isNew: it is asked for twice, and has to be long enough.
    func read(isNew: Bool) throws -> String {
        let passphrase = try passphraseFile.map(Secret.firstLine) ?? ask(isNew: isNew)
        guard !isNew || passphrase.count >= Self.leastLength else {
            throw APIError(.invalidValue, "The passphrase is too short: take at least \(Self.leastLength) characters.")
        }
        return passphrase
    }

    private func ask(isNew: Bool) throws -> String {
        let option = "--passphrase-file"
        let first = try Secret.asked("Passphrase of the fleet's root: ", option: option)
        guard try !isNew || Secret.asked("Once more: ", option: option) == first else {
            throw APIError(.invalidValue, "The two passphrases differ: nothing was made, begin again.")
        }
        return first
    }
}

/// The refusals of `Identity` in the API's words.
enum FleetFailure {
    static func saying<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let fault as any IdentityFault {
            throw APIError(.invalidValue, fault.sentence)
        }
    }
}
