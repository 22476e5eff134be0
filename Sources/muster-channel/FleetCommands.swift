import ArgumentParser
import ChannelServer
import Foundation
import HTTPCoding
import Logging
import Systemd

struct Fleet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let the server into the company's fleet.",
        discussion: """
            The server signs what it says, and takes journals of its fleet only; laptops of a fleet believe a server only \
            that it has let in. A laptop of the office makes the certificate, for 400 days. The server may run meanwhile.

            Where the two reach each other, by a code:
              muster fleet invite --role server                            (at the office)
              muster-channel fleet join 7K3M-QX0T-94WD-BZES

            Else by files. Example:
              muster-channel fleet request > server.request
              muster fleet sign server.request --role server > server.pem  (at the office)
              muster-channel fleet install server.pem
            """,
        subcommands: [Join.self, Request.self, Install.self, Show.self])

    struct Join: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Join a fleet by a code that a laptop of the office has printed.",
            discussion: """
                The code is what 'muster fleet invite --role server' prints there. Whoever invites is shown this server's \
                key words and asked whether it may come in. The laptop is found by DNS-SD (avahi) where both are in one \
                network; else say where it listens. A server that is in the fleet already gets another 400 days. When it \
                was interrupted after the yes, the same command goes on within the ten minutes of the code.

                Example: muster-channel fleet join 7K3M-QX0T-94WD-BZES --inviter 10.0.0.12:7473
                """)

        @Argument(help: "16 characters; hyphens, spaces and capitals do not matter.")
        var code: [String]

        @Option(
            help: ArgumentHelp(
                "Where the inviting laptop listens, instead of looking for it; may be given several times.",
                valueName: "host:port"))
        var inviter: [String] = []

        @Flag(help: "Leave the fleet that the server is of, for another one.")
        var anotherFleet = false

        @OptionGroup var database: DatabaseOption

        func run() async throws {
            await Failure.exits {
                // A mistake in these makes no database.
                let joining = try FleetAdministration.Joining(
                    code: code.joined(), inviters: inviter, changesFleet: anotherFleet,
                    hostName: ProgramStart.hostName ?? "server",
                    logger: Logger(label: "muster-channel", factory: quiet))
                await withFleet(database, makesDatabase: true) { fleet in
                    show(try await fleet.join(joining, told: Self.say))
                }
            }
        }

        /// What went wrong is said in the end, in one sentence.
        private func quiet(_ label: String) -> any LogHandler { SwiftLogNoOpLogHandler() }

        private static func say(_ step: FleetAdministration.JoiningStep) {
            let line =
                switch step {
                case .searching(let keyWords):
                    "This server's key words: \(keyWords)\nLooking for the laptop that invites it, as the company's server."
                case .waiting(let inviter):
                    "\(inviter) invites it as the company's server; waiting until its person has said yes."
                }
            Failure.tell(line)
        }
    }

    struct Request: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print what an issuer makes the server's certificate from.",
            discussion: "Example: muster-channel fleet request > server.request")

        @OptionGroup var database: DatabaseOption

        func run() async throws {
            await withFleet(database, makesDatabase: true) { print(try await $0.request(), terminator: "") }
        }
    }

    struct Install: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take up the certificates that were made for this server.",
            discussion: "Example: muster-channel fleet install server.pem")

        @Argument(help: ArgumentHelp("What 'muster fleet sign' printed; - for standard input.", valueName: "file"))
        var file: String

        @Flag(help: "Leave the fleet that the server is of, for another one.")
        var anotherFleet = false

        @OptionGroup var database: DatabaseOption

        func run() async throws {
            await withFleet(database) { fleet in
                show(try await fleet.install(try Papers.read(file), changesFleet: anotherFleet))
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the server's place in its fleet.", discussion: "Example: muster-channel fleet show --json")

        @Flag(help: "Print one JSON document.")
        var json = false

        @OptionGroup var database: DatabaseOption

        func run() async throws {
            await withFleet(database) { fleet in
                let status = try await fleet.status()
                guard json else { return show(status) }
                print(String(decoding: try JSON.encode(StatusDocument(status), pretty: true), as: UTF8.self))
            }
        }
    }
}

private func withFleet(
    _ database: DatabaseOption, makesDatabase: Bool = false, _ body: (FleetAdministration) async throws -> Void
) async {
    await Failure.exits {
        let settings = try ServerSettings(
            listen: nil, database: database.database, environment: ProgramStart.environment)
        let fleet = try FleetAdministration(databasePath: settings.databasePath, makesDatabase: makesDatabase)
        try await body(fleet)
        try fleet.close()
    }
}

private func show(_ status: FleetAdministration.Status) {
    print("Server      ", status.deviceID.prefix(8))
    print("Pin         ", status.pin)
    print("Fleet       ", status.fleetID ?? "none; see 'muster-channel fleet --help'")
    guard let issuerID = status.issuerID, let validUntil = status.validUntil else { return }
    print("Let in by   ", issuerID)
    print("Valid until ", Timestamp(milliseconds: validUntil))
}

private struct StatusDocument: Encodable {
    let deviceID: String
    @Nullable var fleetID: String?
    @Nullable var issuerID: String?
    @Nullable var validUntil: Timestamp?
    let pin: String

    init(_ status: FleetAdministration.Status) {
        deviceID = status.deviceID
        fleetID = status.fleetID
        issuerID = status.issuerID
        validUntil = status.validUntil.map(Timestamp.init(milliseconds:))
        pin = status.pin
    }
}

/// Certificates in a file, or from standard input.
private enum Papers {
    /// A chain has a few thousand bytes.
    private static let mostBytes = 1 << 20

    static func read(_ path: String) throws -> String {
        let bytes: Data?
        do {
            let file = path == "-" ? .standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
            bytes = try file.read(upToCount: mostBytes + 1)
        } catch {
            throw ValidationError("\(path) cannot be read; check the file's name, and whether you may.")
        }
        guard let bytes, bytes.count <= mostBytes else {
            throw ValidationError("\(path) holds no certificates; give what 'muster fleet sign' printed.")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
