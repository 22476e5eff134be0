import ArgumentParser
import CRDT
import Glibc
import HTTPCoding
import Identity
import LocalAPI

struct FleetRecoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Make the root's file anew from the recovery code.",
        usage: "muster fleet recover [--root <file>] [--code-file <file>] [--json]",
        discussion: """
            For when the file of the fleet's root is lost, or its passphrase. The new file has a passphrase of its own; \
            a lost one that turns up again is as good as before.

            Example:
              muster fleet recover --root /media/usb/fleet-root.pem
            """)

    @Option(help: ArgumentHelp("Where the root goes.", valueName: "file"))
    var root = "fleet-root.pem"

    @Option(help: ArgumentHelp("Read the recovery code from a file's first line.", valueName: "file"))
    var codeFile: String?

    @OptionGroup var passphrase: PassphraseOption
    @OptionGroup var options: GlobalOptions

    struct Recovered: Encodable {
        var fleetID: String
        var root: String
    }

    func run() async throws {
        try await options.withClient { client in
            let status = try await client.fleet()
            let typed = try codeFile.map(Secret.firstLine) ?? Secret.asked("Recovery code: ", option: "--code-file")
            let code: RecoveryCode
            do throws(CodeFault) {
                code = try RecoveryCode(typed)
            } catch {
                throw APIError(.invalidValue, error.sentence)
            }
            guard let key = code.rootKey else { throw APIError(.failed, "The root's key cannot be made: try again.") }
            let fleet = key.publicKey.device.short
            guard status.fleetID == nil || status.fleetID == fleet else {
                throw APIError(
                    .invalidValue,
                    "The code is of the fleet \(fleet), this laptop is in \(status.fleetID ?? "none"): "
                        + "take the other paper.")
            }
            // The key is what everybody goes by: a certificate of today is as good as the first one.
            let sealed = try FleetFailure.saying {
                let authority = try CertificateAuthority.makeRoot(key, now: status.time.milliseconds)
                return try SealedRoot(key, authority.certificate, passphrase: passphrase.read(isNew: true))
            }
            try WholeFile.create(root, sealed.text)
            if options.json { return try StandardOutput.json(Recovered(fleetID: fleet, root: root)) }
            StandardOutput.say(
                "The root of the fleet \(fleet) is in \(root): it belongs on a USB stick in a drawer.")
        }
    }
}

/// What a person types and nobody else may see.
enum Secret {
    /// Of a short file.
    static func firstLine(of file: String) throws -> String {
        let lines = try InputFile(path: file).text().split(separator: "\n", omittingEmptySubsequences: false)
        return lines.first.map { String($0) } ?? ""
    }

    /// - Parameter option: that is named to whoever has no terminal.
    static func asked(_ prompt: String, option: String) throws -> String {
        guard isatty(STDERR_FILENO) == 1 else {
            throw APIError(.invalidValue, "Nobody can type here what is asked for: give \(option) FILE.")
        }
        return getpass(prompt).map { String(cString: $0) } ?? ""
    }
}
