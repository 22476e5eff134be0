import HTTPCoding
import LocalAPI
import Testing

@testable import Node
@testable import muster

/// What people are told who ask twice, too early or for nothing.
@Suite(.timeLimit(.minutes(2)))
struct ToldTests {
    private func run(_ commands: [[String]], columns: Int? = nil) async throws -> [MusterProcess.Outcome] {
        let scene = try await Scene()
        return try await withDaemon(scene.answers) { socket in
            var outcomes: [MusterProcess.Outcome] = []
            let environment = columns.map { ["COLUMNS": "\($0)"] } ?? [:]
            for command in commands {
                outcomes.append(
                    try await MusterProcess.run(scene.filled(command), socket: socket, environment: environment))
            }
            return outcomes
        }
    }

    @Test("A state that is asked for already is told with its request; a drop names request and job")
    func asked() async throws {
        let advance = ["job", "advance", OutputTests.job, "awaitingSignature"]
        let told = try await run([
            advance, advance + ["--json"], ["queue", "drop", "{token 1}"], ["queue", "list", "--json"],
        ])
        #expect(told.map(\.exitCode) == [0, 0, 0, 0])
        let token = String(try #require(told[1].output.split(separator: "\"").first { $0.count == 32 }))
        #expect(
            told[0].output
                == "awaitingSignature is asked for already: 'muster queue show \(token.prefix(8))' tells how that stands.\n"
        )
        #expect(told[1].output.contains("\"isNew\" : false"))
        #expect(
            told[2].output
                == "Dropped \(token.prefix(8)) of the job \"\(OutputTests.job)\": advance to awaitingSignature.\n")
        let left = try JSON.decode([QueueEntry].self, from: Array(told[3].output.utf8))
        #expect(left.allSatisfy { $0.token != token || $0.state == .dropping || $0.state == .withdrawn })
        #expect(left.count { $0.wish == "advance to awaitingSignature" } <= 1, "nothing was queued twice")
    }

    @Test("A pause that is not there is not ended as if it were")
    func resumed() async throws {
        let told = try await run([
            ["queue", "resume"], ["queue", "resume", OutputTests.job], ["queue", "pause"], ["queue", "resume"],
        ])
        #expect(told.map(\.exitCode) == [0, 0, 0, 0])
        #expect(told[0].output == "Nothing was paused.\n")
        #expect(told[1].output == "Nothing was paused of \(OutputTests.job).\n")
        #expect(told[3].output == "Everything of this laptop goes on.\n")
    }

    @Test("A name of several jobs lists them for people with short ids, state and items")
    func ambiguous() async throws {
        let told = try await run(
            [["job", "create", "--name", OutputTests.job], ["job", "show", OutputTests.job]], columns: 80)
        let lines = told[1].error.split(separator: "\n")
        #expect(told[1].exitCode == 65 && lines.count == 4)
        #expect(lines[1].split(separator: " ").map(String.init) == ["ID", "NAME", "STATE", "ITEMS"])
        let short = told[0].output.prefix(36).suffix(6)
        #expect(lines[3].contains(short) && !lines[3].contains(String(told[0].output.prefix(36))))
        #expect(lines.allSatisfy { $0.count <= 80 })
    }

    @Test("A barcode that an item has already is told, and the item added all the same")
    func twins() async throws {
        let add = ["item", "add", OutputTests.job, "name=Lamp"]
        let told = try await run([
            add + ["barcode=2000000000091"], add + ["barcode=4711"], add + ["barcode="],
            ["item", "list", OutputTests.job],
        ])
        #expect(told.map(\.exitCode) == [0, 0, 0, 0])
        #expect(
            told[0].error
                == "muster: The job has another item with the barcode 2000000000091, too; "
                + "'muster job conflicts \"\(OutputTests.job)\"' lists them.\n")
        #expect(told[1].error == "" && told[2].error == "")
        #expect(told[3].output.split(separator: "\n").count { $0.contains("\tLamp\t") } == 3)
    }

    @Test("Rows of one fault are one line, with the places of them")
    func places() {
        var report = ImportReport()
        for line in [3, 4, 5, 9] { report.reject(line, "no") }
        report.reject(7, "never")
        #expect(report.reasons.map { ImportReport.places($0.lines) } == ["lines 3-5, 9", "line 7"])
        #expect(report.reasons.map(\.reason) == ["no", "never"])
        #expect(ImportReport.places((1...50).map { $0 * 2 }).hasSuffix("38, 40 and 30 more"))
    }

    @Test("Who has found nobody is told the next step, which is never to look elsewhere")
    func alone() {
        let on = DiscoveryStatus(state: .available)
        func fleet(_ id: String?, isRevoked: Bool = false) -> FleetStatus {
            var fleet = FleetStatus(
                deviceID: "7a", isIssuer: false, isRevoked: isRevoked, request: "", time: Scene.moment)
            fleet.fleetID = id
            return fleet
        }
        #expect(Company.nextStep(fleet(nil), on).contains("'muster fleet join CODE'"))
        #expect(Company.nextStep(fleet("f"), on).contains("on this network"))
        #expect(Company.nextStep(fleet("f"), DiscoveryStatus(state: .off)).contains("switched off"))
        #expect(Company.nextStep(fleet("f", isRevoked: true), on).contains("revoked"))
        #expect(Company.nextStep(nil, nil).contains("muster doctor"))
    }
}
