import CRDT
import Inventory
import Outbox
import Storage

/// What journals say of requests, told the obvious way from the reference.
struct RequestStanding {
    private(set) var requests: [MutationToken: MutationRequest] = [:]
    private(set) var withdrawn: Set<MutationToken> = []
    /// With the place in the channel.
    private(set) var outcomes: [MutationToken: (place: Int, outcome: Outcome)] = [:]
    private(set) var published: [FieldName: String] = [:]
    /// Tokens that the channel speaks of more than once.
    private(set) var repeated: [MutationToken] = []

    init(_ reference: Reference) {
        for (replica, entries) in reference.journals where replica != .channel {
            for entry in entries { take(entry.change) }
        }
        var place = 0
        for entry in reference.journals[.channel] ?? [] {
            // What the office re-issues for others is not its word.
            guard let change = entry.change, change.origin == nil else {
                take(entry.change)
                continue
            }
            for operation in change.operations {
                place += 1
                switch operation {
                case .outcome(let outcome):
                    if outcomes[outcome.token] != nil { repeated.append(outcome.token) }
                    outcomes[outcome.token] = (place, outcome)
                case .publish(let value): published[value.name] = value.value
                default: break
                }
            }
        }
    }

    private mutating func take(_ change: Change?) {
        for operation in change?.operations ?? [] {
            switch operation {
            case .request(let request): requests[request.token] = request
            case .withdraw(let token): withdrawn.insert(token)
            default: break
            }
        }
    }

    var pending: Set<MutationToken> {
        Set(requests.keys).subtracting(withdrawn).subtracting(outcomes.keys)
    }
}

/// Rule R8: each request has one effect, in its lane's order, and is shown until the office has answered.
extension Checker {
    /// A person's wishes are durable.
    func asked(_ segment: JournalSegment, by device: Device) {
        for change in (try? ChangeCodec.decodeAll(segment.bytes)) ?? [] {
            for case .request(let request) in change.operations { requests[request.token] = request }
        }
    }

    /// After each word of the office's.
    func checkChannel(of office: Office) throws {
        let standing = RequestStanding(office.reference)
        if let token = standing.repeated.first { throw Violation("R8", "the office has decided \(token) twice.") }
        for (token, decided) in standing.outcomes {
            guard let after = requests[token]?.after, !standing.withdrawn.contains(token),
                !standing.withdrawn.contains(after)
            else { continue }
            guard let before = standing.outcomes[after], before.place < decided.place else {
                throw Violation("R8", "the office decided \(token) before \(after), which it follows in its lane.")
            }
        }
        // Accepted means carried out: a state follows from the one before.
        var state: JobState?
        for entry in office.reference.journals[.channel] ?? [] where entry.change?.origin == nil {
            for case .publish(let value) in entry.change?.operations ?? [] where value.name == .jobState {
                guard let next = JobState(rawValue: value.value), state?.allows(next) ?? (next == .scheduled) else {
                    throw Violation("R8", "the office published \(value.value) after \(state?.rawValue ?? "nothing").")
                }
                state = next
            }
        }
    }

    /// What a laptop shows of the office's part of a job: what was published with what is asked for, and nothing twice.
    func checkOverlay(of device: Device) async throws {
        let standing = RequestStanding(device.reference)
        let pending = Set(try await device.store.pendingRequests(of: job).map(\.request.token))
        guard pending == standing.pending else {
            let names = [pending, standing.pending].map { $0.sorted().map { "\($0)" }.joined(separator: " ") }
            throw Violation("R8", "\(device) has the requests \(names[0]) open, but open are \(names[1]).")
        }
        let overlay = try await device.store.overlay(of: job, leavingOut: device.outbox.notShown)
        guard overlay.published.values == standing.published else {
            throw Violation(
                "R8", "\(device) says that \(overlay.published.values) is published, not \(standing.published).")
        }
        if let token = overlay.pending.values.first(where: { !standing.pending.contains($0) }) {
            throw Violation("R8", "\(device) still shows \(token), which is settled.")
        }
    }

    /// In the end everything is settled, and everybody knows it.
    func checkSettled(_ office: Office, _ devices: [Device]) async throws {
        let standing = RequestStanding(office.reference)
        let lost = requests.keys.sorted().first { standing.outcomes[$0] == nil && !standing.withdrawn.contains($0) }
        if let lost {
            throw Violation("R8", "the request \(lost) was acknowledged and the office knows nothing of it.")
        }
        for device in devices {
            try await checkOverlay(of: device)
            let overlay = try await device.store.overlay(of: job, leavingOut: device.outbox.notShown)
            guard overlay.shown == overlay.published else {
                throw Violation("R8", "\(device) shows \(overlay.shown.values) and not what is published.")
            }
        }
    }
}
