import CRDT
import Engine
import HTTPCoding
import Inventory
import LocalAPI
import LocalAPIServer
import Logging
import Metering
import Simulation
import Storage
import Testing

@testable import Node

/// A laptop's service on a store in memory, without a network: what the local API answers.
///
/// Its name is its seed, and its time stands still until a test moves it: ids, stamps and answers are always the same.
struct Laptop {
    /// 2026-08-01T10:30:00.125Z, later than any time before which the program cannot run.
    static let moment = Timestamp(milliseconds: 1_785_580_200_125)

    let store: Store
    let machine: StillMachine
    let core: Core
    let service: InventoryService

    /// - Parameter path: of a store in a file; nil for one in memory.
    init(_ name: String, path: String? = nil, configuration: NodeConfiguration = NodeConfiguration()) async throws {
        let seed = name.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) }
        var generator = SeededGenerator(seed: seed)
        let counters = CounterRegistry()
        store =
            try path.map {
                try Store.open(
                    path: $0, machine: name, hostName: name, upgrade: StoreUpgrade(program: "1.0.0"),
                    metrics: counters, generator: &generator)
            }
            ?? Store.openInMemory(
                place: StorePlace(machine: name, file: name), hostName: name, metrics: counters, generator: &generator)
        machine = StillMachine(seed: seed + 1, at: Self.moment.milliseconds)
        core = try await Core(
            Core.Parts(
                store: store, machine: machine, configuration: configuration, hostName: name,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                fleet: FleetIdentity(key: TestSigner(seed).key), counters: counters))
        service = core.service(gateway: nil, discovery: DiscoveryState(DiscoveryStatus(state: .off)))
    }

    // MARK: Meetings

    /// Everything of a job that the other lacks, as a peer would bring it.
    @discardableResult
    func send(_ job: JobID, to other: Laptop) async throws -> [AppliedChange] {
        var applied: [AppliedChange] = []
        for entry in try await store.vector(of: job).entries {
            let known = try? await other.store.vector(of: job)[entry.replica].sequence
            let segment = try await store.segment(
                of: entry.replica, job: job, from: (known ?? 0) + 1, maximumBytes: .max)
            guard let segment else { continue }
            applied += try await other.store.ingest(segment, job: job, now: other.service.clock.now).applied
        }
        await other.service.outbox.jobAdvanced(job)
        return applied
    }

    /// Both lack nothing of a job that the other has.
    func meet(_ other: Laptop, over job: String) async throws {
        let job = try #require(JobID(job))
        try await send(job, to: other)
        try await other.send(job, to: self)
    }

    // MARK: People

    /// What nobody may enter at the local API, but a device of another make may hold.
    func put(_ fields: [(FieldName, String)], item: ItemID, job: JobID) async throws {
        let edit = Edit.put(item: item, fields: fields.map { Edit.FieldValue(field: $0, value: $1) })
        let clock = service.clock
        let result = try await store.edit(job: job, createsJob: true, now: { clock.now }, [edit])
        if let refusal = result.refusals.first ?? nil { throw refusal }
    }

    /// A job, and its id.
    func job(_ name: String, _ kind: JobKind? = nil, id: String? = nil) async throws -> String {
        try await service.createJob(CreateJobRequest(name: name, kind: kind, id: id)).id
    }

    /// An item, a second after the last, and its id.
    func add(_ fields: [String: String], to job: String) async throws -> String {
        machine.pass(milliseconds: 1_000)
        return try await service.addItem(FieldsRequest(fields: fields), job: job).id
    }

    /// Sets fields, a second after whatever was before.
    func set(_ fields: [String: String], of item: String, in job: String) async throws {
        machine.pass(milliseconds: 1_000)
        _ = try await service.setFields(FieldsRequest(fields: fields), item: item, job: job)
    }

    // MARK: Answers

    func items(_ job: String, where filters: [String: String] = [:]) async throws -> [ItemView] {
        let filters = filters.map { FieldFilter(field: $0.key, value: $0.value) }
        var bytes: [UInt8] = []
        for try await piece in try await service.items(job: job, matching: filters, as: .array) { bytes += piece }
        return try JSON.decode(from: bytes)
    }

    func log(_ job: String, item: String? = nil) async throws -> [ChangeReport] {
        try await service.log(job: job, item: item).all()
    }

    func exported(_ job: JobID, _ format: ExportFormat) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await chunk in try await service.export(job: job.text, format: format) { bytes += chunk }
        return bytes
    }
}

extension AsyncSequence where Self: Sendable {
    /// All pieces as one.
    func all<Element: Sendable>() async throws -> [Element] where Self.Element == [Element] {
        var elements: [Element] = []
        for try await piece in self { elements += piece }
        return elements
    }
}

extension InventoryService {
    /// With its digest.
    func job(_ text: String) async throws -> JobDetails { try await job(text, makesDigest: true) }
}
