import CRDT
import Engine
import Enrolment
import Identity
import HTTPCoding
import Inventory
import LocalAPI
import LocalAPIServer
import Logging
import Metering
import Outbox
import Replication
import Storage
import Systemd
import Transport

/// Answers the local API: people's words in, the store's and the mesh's facts out.
///
/// The operations stand in the extensions beside this file, by what they are about.
struct InventoryService: MusterService {
    let store: Store
    /// Chance and the machine's clocks come from here alone, so that what is answered can be repeated.
    let machine: any Machine
    let replicator: Replicator
    let transport: PeerTransport
    let clock: ClockService
    let hub: EventHub
    let facts: DaemonFacts
    let keys: KeyCache
    let outbox: OutboxDriver
    /// Nil without a server.
    let gateway: Gateway?
    let fleet: FleetIdentity
    let assignments: JobAssignments
    let keptPeers: KeptPeers
    let inviter: Inviter
    let joiner: Joiner
    let underWay: RequestsUnderWay
    let transfers: TransferDirectory
    let storeInspection = StoreInspection()
    /// For whom it answers.
    var caller = LocalCaller()
    /// By which the request is known again; nil where it is not.
    var requestKey: RequestKey?
    /// What it wrote before the daemon ended is here already.
    var isResumed = false

    /// The Unix user of the machine for whom it answers; nil where that is not known.
    var user: UInt32? { caller.user }

    /// Who writes, on the terms of the request.
    ///
    /// - Parameter subject: what `If-Match` is about; nil where the request cannot have one.
    func writer(_ subject: WriteCondition.Subject? = nil) -> Writer {
        guard let subject, case .strong(let tags) = caller.condition else { return Writer(user: user, key: requestKey) }
        return Writer(user: user, on: WriteCondition(subject, isOneOf: tags), key: requestKey)
    }

    /// Looks at `If-Match` where nothing is written: a write looks at it in its transaction.
    ///
    /// - Parameter subject: what it is about, as a sentence begins with it.
    func checkCondition(_ tag: String, of subject: String) throws {
        guard case .strong(let tags) = caller.condition, !tags.contains(tag) else { return }
        throw APIError(.preconditionFailed, "\(subject) has changed since it was read; read it again.")
    }

    /// Runs an operation of the store and says what went wrong in the API's words.
    func answering<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as StoreError {
            throw APIError(error)
        } catch let refusal as EditRefusal {
            throw APIError(refusal)
        } catch let refusal as CrewRefusal {
            throw APIError(.invalidValue, refusal.sentence, candidates: refusal.candidates)
        } catch let refusal as FieldTextRefusal {
            throw APIError(refusal)
        } catch let doubt as FieldDoubt {
            throw APIError(.doubtfulValue, doubt.sentence, candidates: doubt.candidates)
        } catch let refusal as MutationRefusal {
            throw APIError(.invalidValue, refusal.sentence)
        } catch let refusal as OutboxRefusal {
            throw APIError(refusal)
        } catch let fault as FleetIdentity.Fault {
            throw APIError(fault.isOfRights ? .notPermitted : .invalidValue, fault.sentence)
        } catch let fault as any IdentityFault {
            throw APIError(.invalidValue, fault.sentence)
        } catch let error as ConfigurationError {
            throw APIError(.unavailable, "\(error)")
        }
    }

    /// Corrected time.
    var nowMilliseconds: UInt64 { clock.now.milliseconds }

    /// Edits an existing item and returns its id, and the tag of what it is then.
    ///
    /// Ids that are written in full, as programs write them, need no look-up: the edit itself finds out.
    func change(
        item: String, job: String, _ edit: (ItemID, JobID) async throws -> Edit
    ) async throws -> Identified {
        var removed: StoreError?
        if let jobID = JobID(job), let itemID = ItemID(item), itemID != .job {
            do {
                return try await make(try await edit(itemID, jobID), job: jobID, requiresItem: true)
            } catch let error as StoreError where [.unknownJob, .removedJob].contains(error.code) {
                removed = error.code == .removedJob ? error : nil
                // It may be a name that looks like an id, or that a removed job of that id has given back.
            } catch EditRefusal.unknown {
                // Or a barcode that looks like one.
            }
        }
        let job = try await resolve(job: job)
        if job.isRemoved, let removed { throw removed }
        let found = try await resolve(item: item, job: job.id)
        return try await make(try await edit(found.id, job.id), job: job.id, requiresItem: true)
    }

    /// Makes one edit and returns its item's id, and the tag of what the item is then.
    @discardableResult
    func make(_ edit: Edit, job: JobID, requiresItem: Bool = false) async throws -> Identified {
        let result = try await store.edit(
            job: job, requires: requiresItem ? .known : .none, now: { clock.now }, by: writer(.item(edit.item)), [edit])
        if let refusal = result.refusals.first ?? nil { throw refusal }
        return Identified(
            id: edit.item.description, amends: await amendedJob(job, result),
            entityTag: result.commit?.applied.last { $0.change.item == edit.item }?.after.tag)
    }

    func events(job: String?, type: EventType?, after last: String?) async throws -> EventSubscription {
        try await answering {
            var id: String?
            if let job { id = try await resolve(job: job).id.text }
            let subscription = hub.subscribe(job: id, type: type, after: last)
            await hub.prepare()
            return subscription
        }
    }
}

/// What does not change while the daemon runs.
struct DaemonFacts: Sendable {
    let hostName: String
    let startedAt: Timestamp
    /// The same by the machine's own time, in milliseconds.
    let startedElapsed: UInt64
    let configuration: NodeConfiguration
    /// The store's name when the daemon started; a store that is found to be a copy takes another.
    let firstReplica: ReplicaID
    let discovery: DiscoveryState
    /// What was logged last; nil where nobody keeps it.
    let recentLog: RecentLog?
    /// What was counted since.
    let counters: CounterRegistry
    /// Whether Prometheus's port is listened on; nil where nobody wants one.
    let metricsPort: MetricsPort?
}

extension APIError {
    init(_ error: StoreError) {
        let code: APIError.Code =
            switch error.code {
            case .unknownJob: .unknownJob
            case .removedJob: .jobRemoved
            case .notLate: .unknownChange
            case .changedMeanwhile: .preconditionFailed
            case .cutOff: .notPermitted
            case .diskFull, .busy, .readTooSlow, .historyChanged: .unavailable
            default: .failed
            }
        self.init(code, error.description)
    }

    init(_ refusal: EditRefusal) {
        let code: APIError.Code =
            switch refusal {
            case .removed: .itemRemoved
            case .unknown: .unknownItem
            case .changeTooLarge, .tooManyFields: .tooLarge
            case .noFields, .valueTooLong, .fieldTwice: .invalidValue
            case .known: .preconditionFailed
            case .rivalsChanged: .rivalsChanged
            }
        self.init(code, refusal.sentence)
    }

    init(_ refusal: FieldTextRefusal) {
        self.init(.invalidValue, refusal.sentence)
    }
}
