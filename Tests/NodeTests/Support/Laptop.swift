import CRDT
import Engine
import HTTPCoding
import Inventory
import LocalAPI
import Logging
import Replication
import Storage
import Transport

@testable import Node

/// A laptop's service on a store in memory, without a network: what the local API answers.
struct Laptop {
    let store: Store
    let service: InventoryService

    /// - Parameter path: of a store in a file; nil for one in memory.
    init(_ name: String, path: String? = nil) async throws {
        var generator = SeededGenerator(seed: name.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) })
        let store =
            try path.map { try Store.open(path: $0, machine: name, hostName: name, generator: &generator) }
            ?? Store.openInMemory(
                place: StorePlace(machine: name, file: name), hostName: name, generator: &generator)
        let logger = Logger(label: "test")
        let machine = SystemMachine(executor: nil)
        let clock = ClockService(remembered: nil, machine: machine)
        let replicator = Replicator(
            Replicator.Parts(
                store: store, clock: clock, machine: machine, observer: NobodyWatches(), logger: logger),
            holdings: KnownHoldings(jobs: [], removals: []), hostName: name)
        let transport = PeerTransport(
            configuration: TransportConfiguration(host: "127.0.0.1", port: 0), handler: replicator, logger: logger)
        await replicator.attach(transport)
        let outbox = OutboxDriver(
            store: store, replicator: replicator, clock: clock, machine: machine, logger: logger)
        try await outbox.start()
        self.store = store
        service = InventoryService(
            store: store, replicator: replicator, transport: transport, clock: clock, hub: EventHub(),
            facts: DaemonFacts(
                hostName: name, startedAt: Timestamp(milliseconds: 0), configuration: NodeConfiguration(),
                firstReplica: store.identity.replica, discovery: DiscoveryState(DiscoveryStatus(state: .off))),
            keys: KeyCache(), outbox: outbox, gateway: nil)
    }

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
        return applied
    }

    /// What nobody may enter at the local API, but a device of another make may hold.
    func put(_ fields: [(FieldName, String)], item: ItemID, job: JobID) async throws {
        let edit = Edit.put(item: item, fields: fields.map { Edit.FieldValue(field: $0, value: $1) })
        let clock = service.clock
        let result = try await store.edit(job: job, createsJob: true, now: { clock.now }, [edit])
        if let refusal = result.refusals.first ?? nil { throw refusal }
    }

    func exported(_ job: JobID, _ format: ExportFormat) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await chunk in try await service.export(job: job.text, format: format) { bytes += chunk }
        return bytes
    }
}

private struct NobodyWatches: ReplicationObserver {
    func jobAdvanced(_ job: JobID, vector: VersionVector, applied: [AppliedChange]) {}
}
