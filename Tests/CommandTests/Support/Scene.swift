import CRDT
import Identity
import Inventory
import HTTPCoding
import LocalAPI
import LocalAPIServer
import Simulation
import Storage
import Testing

@testable import Node

/// What the daemon of anna-laptop answers: a job with a few items, on which bert-laptop has written too, and one that was
/// removed while Bert went on. Always the same, to the last byte.
struct Scene: Sendable {
    static let jobID = "0190f5fe-7c00-7000-8000-000000000001"
    static let removedJobID = "Oak-3"
    static let itemIDs = [
        "0190f5fe-9c41-7a3e-8f10-5b1e0c9d2a01", "0190f5fe-9c41-7b70-9d22-c04a77e1f002",
        "0190f5fe-b2d0-7111-a3f4-08d6b52e9003",
    ]
    static let removedItemID = "0190f5ff-0e15-7c0d-b6a7-4d2f91c3e004"
    /// Of another year than that in which anybody runs the tests: in its own year people see a date in another form.
    static let moment = Timestamp(milliseconds: 1_722_508_200_125)

    let anna: Person
    let bert: Person
    /// What waits for the server, in its order, and last what the office has refused.
    let tokens: [String]
    /// The late work on the removed job, in its order.
    let late: [String]
    /// What people are answered: by the service itself, but for what only a network shows.
    let answers: MetService

    var service: InventoryService { anna.service }

    init(_ company: MetService.Company = .met) async throws {
        var anna = try await Person("anna-laptop", seed: 1)
        let (bert, office) = (try await Person("bert-laptop", seed: 2), try await Office())
        let (job, removed) = (Self.jobID, Self.removedJobID)
        try await Self.beginning(anna)
        try await anna.send([job, removed], to: bert)
        _ = try await anna.service.advance(AdvanceRequest(state: "dispatched"), job: job)
        try await office.decide(all: anna, of: job)
        try await anna.send([job], to: bert)
        // What now is written, is written without knowing of each other.
        try await Self.meanwhile(bert)
        let refused = try await bert.service.advance(AdvanceRequest(state: "inProgress"), job: job).tokens
        try await office.decide(all: bert, of: job, refusing: "The job is completed.")
        anna.machine.pass(milliseconds: 10_000)
        try await anna.write(Self.itemIDs[0], ["room": "Living room", "quantity": "1", "condition": "good"])
        try await anna.write(ItemID.job.description, ["name": "Smith, 12 Elm Street"])
        _ = try await anna.service.addNote(NoteRequest(text: "left leg scratched"), item: Self.itemIDs[0], job: job)
        _ = try await anna.service.removeJob(removed, isConfirmed: true)
        try await bert.send([job, removed], to: anna)
        try await anna.remember(bert, of: job)
        var waiting: [String] = []
        for state in ["inProgress", "awaitingSignature"] {
            anna.machine.pass(milliseconds: 1_000)
            waiting += try await anna.service.advance(AdvanceRequest(state: state), job: job).tokens
        }
        try await anna.rememberAttempts(of: waiting)
        // What is remembered is taken up at the next start.
        try await anna.restart()
        (self.anna, self.bert, tokens) = (anna, bert, waiting + refused)
        late = try await anna.service.late(job: removed).map(\.id)
        answers = MetService(own: anna.service, bert: bert.store.identity.device.description, company: company)
    }

    /// All that Bert has seen before they part.
    private static func beginning(_ anna: Person) async throws {
        let names = [(jobID, "Smith, 12 Elm Street"), (removedJobID, "Jones, 3 Oak Lane, third floor, ring twice")]
        for (id, name) in names {
            _ = try await anna.service.createJob(CreateJobRequest(name: name, kind: .pickup, id: id))
        }
        try await anna.write(
            itemIDs[0], ["barcode": "2000000000091", "category": "sofa-3-seat", "name": "Sofa (three seats)"])
        try await anna.write(
            itemIDs[1],
            [
                "barcode": "2000000000145", "category": "carton-small", "quantity": "12",
                "name": "Book boxes with a name that is much too long for any table that fits a terminal",
                "room": "Study on the second floor behind the stairs", "condition": "fair\u{1B}[31m",
            ])
        try await anna.write(removedItemID, ["name": "Rug"])
        _ = try await anna.service.removeItem(removedItemID, job: jobID)
        try await anna.write(itemIDs[0], ["name": "Desk"], in: removedJobID)
    }

    /// What Bert writes alone; last with a clock that is a day ahead.
    private static func meanwhile(_ bert: Person) async throws {
        try await bert.write(itemIDs[0], ["room": "Hall"])
        try await bert.write(ItemID.job.description, ["name": "Smith family"])
        try await bert.write(itemIDs[0], ["room": "Attic"], in: removedJobID)
        _ = try await bert.service.addNote(NoteRequest(text: "left leg scratched"), item: itemIDs[0], job: removedJobID)
        try await bert.write(itemIDs[2], ["name": "花瓶 vase", "barcode": "2000000000145", "quantity": "two"])
        bert.machine.pass(milliseconds: 86_400_000)
        try await bert.write(itemIDs[2], ["room": "Hall"])
        bert.machine.pass(milliseconds: -86_400_000)
    }

    /// Makes this laptop the first issuer of a new fleet, once they are installed.
    func founding() async throws -> FleetCertificates {
        let status = try await service.fleetStatus()
        let root = try CertificateAuthority.makeRoot(DeviceKey(), now: status.time.milliseconds)
        let issuer = try root.issue(
            .issuer, to: SigningRequest.key(inPEM: status.request), as: .office, now: status.time.milliseconds)
        return FleetCertificates(certificates: issuer.pem + root.certificate.pem)
    }

    /// All changes of the job, in their order.
    func changes() async throws -> [ChangeReport] {
        var changes: [ChangeReport] = []
        for try await batch in try await service.log(job: Self.jobID, item: nil) { changes += batch }
        return changes
    }

    /// The items of a job, by id.
    func items(_ job: String = jobID) async throws -> [ItemView] {
        var bytes: [UInt8] = []
        for try await piece in try await service.items(job: job, matching: [], as: .array) { bytes += piece }
        return try JSON.decode(from: bytes)
    }

    /// A command with what only the scene knows: `{token N}`, `{late N}`, and `{bert}`, the beginning of Bert's store.
    func filled(_ command: [String]) -> [String] {
        command.map { word in
            for (index, token) in tokens.enumerated() where word == "{token \(index)}" {
                return String(token.prefix(8))
            }
            for (index, change) in late.enumerated() where word == "{late \(index)}" { return change }
            return word.replacing("{bert}", with: bert.store.identity.replica.description.prefix(4))
        }
    }
}
