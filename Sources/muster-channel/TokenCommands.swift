import ArgumentParser
import ChannelServer
import HTTPCoding
import Storage

struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Who may ask the server: one token per device.",
        discussion: """
            The server may run meanwhile, and knows a change within two seconds.

            Example: muster-channel token add annas-laptop
            """,
        subcommands: [Add.self, List.self, Revoke.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a token and print it; it is not shown again.",
            discussion: "Example: muster-channel token add annas-laptop")

        @Argument(help: "What to call it, for example the laptop's name.")
        var name: String

        @OptionGroup var database: DatabaseOption

        func run() async throws {
            await withOffice(database) { print(try await $0.add(name)) }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the tokens' names, never the tokens.",
            discussion: "Example: muster-channel token list --json")

        @Flag(help: "Print one JSON document.")
        var json = false

        @OptionGroup var database: DatabaseOption

        func run() async throws {
            await withOffice(database) { office in
                let rows = try await office.list().map(TokenRow.init)
                if json {
                    print(String(decoding: try JSON.encode(rows, pretty: true), as: UTF8.self))
                } else if rows.isEmpty {
                    print("No tokens; make one with 'muster-channel token add NAME'.")
                } else {
                    for row in rows {
                        print(row.name, "since", row.createdAt, row.revokedAt.map { "revoked \($0)" } ?? "holds")
                    }
                }
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let a token hold no longer.", discussion: "Example: muster-channel token revoke annas-laptop")

        @Argument(help: "The token's name.")
        var name: String

        @OptionGroup var database: DatabaseOption

        func run() async throws {
            await withOffice(database) { try await $0.revoke(name) }
        }
    }
}

private struct TokenRow: Encodable {
    let name: String
    let createdAt: Timestamp
    @Nullable var revokedAt: Timestamp?

    init(_ access: Access) {
        name = access.name
        createdAt = Timestamp(milliseconds: access.created)
        revokedAt = access.revoked.map(Timestamp.init(milliseconds:))
    }
}

private func withOffice(_ database: DatabaseOption, _ body: (TokenAdministration) async throws -> Void) async {
    await Failure.exits {
        let settings = try ServerSettings(listen: nil, database: database.database, environment: Environment.all)
        let office = try TokenAdministration(databasePath: settings.databasePath)
        try await body(office)
        try office.close()
    }
}
