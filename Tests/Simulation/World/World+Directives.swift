import CRDT
import Inventory
import Replication
import Storage

/// Carries out what a mesh decides, as the daemon's replicator does.
extension World {
    func perform(_ directives: [Directive], by device: Device) async throws {
        for directive in directives { try await perform(directive, by: device) }
        scheduleTimer(of: device)
    }

    private func perform(_ directive: Directive, by device: Device) async throws {
        let elapsed = device.elapsedMilliseconds(at: now)
        switch directive {
        case .send(let message, let link): try send(message, by: device, on: link)
        case .close(let link, let reason):
            narrate?("\(now) device \(device.index) closes \(link): \(reason)")
            if let place = network.place(of: link) { close(place.connection) }
        case .persist(let job, let segment, let link):
            // A slow disk now and then; a crash meanwhile loses it.
            let slow = device.generator.oneIn(50)
            let wait = Int64.random(in: 0...(slow ? 800_000 : 10_000), using: &device.generator)
            add(.persist(job, segment, from: link), after: wait, to: device)
        case .load(let job, let replica, let from, let maximumBytes, let link):
            let segment = try? await device.store.segment(
                of: replica, job: job, from: from, maximumBytes: maximumBytes)
            try await perform(
                device.mesh.onLoaded(segment, job: job, replica: replica, asked: from, for: link, now: elapsed),
                by: device)
        case .lookUp(let job, let replica, let sequence, let lookup):
            let found = try? await device.store.boundary(of: replica, job: job, at: sequence)
            let answer = ProbeAnswer(
                sequence: sequence, boundary: found?.head, changeHash: found?.changeHash ?? 0)
            try await perform(
                device.mesh.onLookedUp(answer, job: job, replica: replica, for: lookup, now: elapsed), by: device)
        case .checkOwnJournal(let job, let claimed, let link):
            guard try await device.store.isOwnFuture(claimed, of: job) else { return }
            try await perform(device.mesh.onOwnFuture(claimed, of: job, from: link, now: elapsed), by: device)
        case .renewReplica(let former, let reason): try await renew(device, former, reason)
        case .renewDevice(let reason): try await renew(device, nil, reason)
        case .adoptBranch(let job, let segment, let keep):
            try await adopt(segment, of: job, after: keep, by: device)
        case .answerPing(let number, let received, let link):
            try send(answerPing(number, received: received, by: device), by: device, on: link)
        case .learnTime(let exchange, let quality, let peer, let link):
            try await learn(exchange, quality, from: peer, on: link, by: device)
        case .takeRemoval(let job, let removal, let link):
            if try await !takeRemoval(removal, of: job, by: device) { device.mesh.onRemovalFailed(job, from: link) }
        case .established, .recognised, .report, .reported, .proofIgnored: break
        }
    }

    private func send(_ message: Message, by device: Device, on link: LinkID) throws {
        guard let place = network.place(of: link), let connection = network.connections[place.connection],
            connection.closedAt[place.side] == nil
        else { return }
        try checker.sent(message, by: device)
        counters.messages += 1
        let target = Network.Place(connection: place.connection, side: 1 - place.side)
        deliver(message, towards: target, from: device.index, to: connection.ends[target.side].device)
    }

    /// Puts a message on its way: it comes, comes twice, hangs, or is lost with its connection.
    func deliver(_ message: Message, towards place: Network.Place, from: Int, to: Int) {
        guard !network.isCut(from, to) else { return network.stall(message, towards: place) }
        let profile = plan.profile
        let (isLost, isTwice, delay) = network.draw(from, to) { generator in
            let isLost = !isCalm && profile.losesOneIn.map { generator.oneIn($0) } ?? false
            let isTwice = !isCalm && profile.duplicatesOneIn.map { generator.oneIn($0) } ?? false
            let isLate = !isCalm && generator.oneIn(40)
            let longest =
                Int64(isCalm ? min(profile.longestDelay, 50) : profile.longestDelay) * (isLate ? 10_000 : 1_000)
            return (isLost, isTwice, Int64.random(in: 100...max(longest, 200), using: &generator))
        }
        // Longer than the mesh waits for anything that is on its way.
        if delay > 250_000 { counters.count(.delay) }
        guard !isLost else {
            counters.count(.lostMessage)
            return close(place.connection)
        }
        let time = network.arrival(at: now + delay, towards: place)
        let device = devices[to]
        events.add(.message(message, place), at: time, device: to, incarnation: device.incarnation)
        if isTwice, !message.isHello {
            counters.count(.duplicate)
            events.add(.message(message, place), at: time, device: to, incarnation: device.incarnation)
        }
    }

    // MARK: The store

    func persist(_ segment: JournalSegment, of job: JobID, from link: LinkID, by device: Device) async throws {
        var ingested = Ingested(.failed)
        do {
            ingested = try await device.store.ingest(segment, job: job, now: device.receiveTime(at: now))
            if ingested.result == .stored { try await stored(segment, of: job, by: device) }
        } catch let error as CodecError {
            ingested = Ingested(.malformed("\(error)"))
        } catch let error as StoreError where error.code == .diskFull {
            counters.count(.refusedWrite)

        }
        record("persist", device, segment.head.sequence)
        narrate?("\(now) device \(device.index) persists \(segment.brief) of \(brief(job)): \(ingested.result)")
        let elapsed = device.elapsedMilliseconds(at: now)
        try await perform(
            device.mesh.onPersisted(segment, job: job, from: link, result: ingested.result, now: elapsed), by: device)
        if let ended = ingested.ended { try await told(ended, of: job, by: device) }
    }

    private func stored(_ segment: JournalSegment, of job: JobID, by device: Device) async throws {
        counters.stored += 1
        noteFuture(in: segment, by: device)
        if segment.bytes.count > 64 << 10 { counters.count(.longRun) }
        try await checker.stored(segment, of: job, by: device)
        advanced(device, job)
        freeLater(device)
    }

    private func noteFuture(in segment: JournalSegment, by device: Device) {
        let limit = device.receiveTime(at: now).milliseconds + UInt64(Checker.toleranceMilliseconds)
        let changes = (try? ChangeCodec.decodeAll(segment.bytes)) ?? []
        if changes.contains(where: { $0.stamp.milliseconds > limit }) { counters.count(.fromTheFuture) }
    }

    /// For people who follow a run.
    func brief(_ job: JobID) -> String { jobs.firstIndex(of: job).map { "job \($0)" } ?? "job \(job)" }

    func renew(_ device: Device, _ doubtful: ReplicaID?, _ reason: String) async throws {
        let elapsed = device.elapsedMilliseconds(at: now)
        let former = device.store.identity
        narrate?("\(now) device \(device.index) renews itself: \(reason)")
        do {
            if let doubtful {
                try await device.store.renewReplica(doubtful, using: &device.generator)
            } else {
                try await device.store.renewDevice(using: &device.generator)
            }
            counters.count(.renewal)
            device.unseen = [:]
            try checker.renewed(device, from: former)
            try await noteRenewal(of: device)
        } catch let error as StoreError where error.code == .diskFull {
            counters.count(.refusedWrite)
            device.mesh.onRenewalFailed(now: elapsed)
        }
    }

    /// The store has taken another name by itself.
    func noteRenewal(of device: Device) async throws {
        let identity = device.store.identity
        guard identity.replica != device.mesh.replica || identity.device != device.mesh.device else { return }
        try await perform(
            device.mesh.onRenewed(
                device: identity.device, replica: identity.replica, now: device.elapsedMilliseconds(at: now)),
            by: device)
    }

    func adopt(_ segment: JournalSegment, of job: JobID, after keep: UInt64, by device: Device) async throws {
        let elapsed = device.elapsedMilliseconds(at: now)
        narrate?("\(now) device \(device.index) adopts \(segment.brief) of \(brief(job)) after \(keep)")
        do {
            let adopted = try await device.store.adoptBranch(
                segment, job: job, after: keep, now: device.receiveTime(at: now), using: &device.generator)
            counters.count(.branchGivenUp)
            narrate?("\(now) device \(device.index) re-issues \(adopted.reissued?.segment.story ?? "nothing")")
            if let reissued = adopted.reissued { try checker.reissued(reissued.segment, by: device) }
            device.unseen = [:]
            try await checker.reloaded(device)
            advanced(device, job)
            freeLater(device)
            try await noteRenewal(of: device)
            try await perform(
                device.mesh.onBranchAdopted(
                    adopted.head, job: job, replica: segment.replica, reissued: adopted.reissued?.segment,
                    now: elapsed), by: device)
            if let ended = adopted.ended { try await told(ended, of: job, by: device) }
        } catch let error as StoreError {
            if error.code == .diskFull { counters.count(.refusedWrite) }
            try await perform(
                device.mesh.onBranchAdopted(
                    nil, job: job, replica: segment.replica, reissued: nil, now: elapsed), by: device)
        }
    }
}

extension Message {
    var isHello: Bool {
        if case .hello = self { true } else { false }
    }

    /// For people who follow a run.
    var brief: String {
        switch self {
        case .delta(_, let segment, let pushed): "delta \(segment.brief)\(pushed ? " pushed" : "")"
        case .vector(_, let vector, let removal):
            "vector \(vector.brief)\(removal.map { ", removed up to \($0.heads.brief)" } ?? "")"
        case .have(_, let entries): "have \(entries.map(\.brief).joined(separator: " "))"
        case .request(_, let replica, let from, _, let graft):
            "request \(replica.description.prefix(4)) from \(from)\(graft ? " graft" : "")"
        case .probe(_, let replica, let sequence): "probe \(replica.description.prefix(4)) \(sequence)"
        case .forked(_, let replica): "forked \(replica.description.prefix(4))"
        default: "\(self)".prefix(40).description
        }
    }
}

extension JournalSegment {
    var brief: String { "\(replica.description.prefix(4)) \(first)–\(head.sequence)/\(head.digest % 1_000)" }
}

extension JournalSegment {
    /// The same with what the changes do.
    var story: String {
        var sequence = first
        var parts: [String] = []
        try? ChangeCodec.scan(bytes) { scanned, buffer in
            defer { sequence += UInt64(scanned.operationCount) }
            let change = ChangeCodec.decode(scanned, in: buffer)
            let item = change.item == .job ? "" : " of \(change.item.description.suffix(4))"
            parts.append("\(sequence) " + change.operations.map(\.brief).joined(separator: "+") + item)
        }
        return "\(brief): \(parts.joined(separator: ", "))"
    }
}

extension CRDT.Operation {
    fileprivate var brief: String {
        switch self {
        case .set(_, let value, _): "set \(value)"
        case .append(_, let entry): "note \(entry)"
        case .remove: "remove"
        case .removeJob(let removal): "removeJob(\(removal.heads.brief))"
        case .decide(let changes): "decide(\(changes.count))"
        case .acknowledge(let positions): "acknowledge(\(positions.brief))"
        case .request(let request): "request(\(request.kind))"
        case .withdraw: "withdraw"
        case .outcome(let outcome): "outcome(\(outcome.verdict))"
        case .publish(let value): "publish(\(value.name))"
        }
    }
}

extension [Position] {
    fileprivate var brief: String {
        map { "\($0.replica.description.prefix(4)):\($0.sequence)" }.joined(separator: " ")
    }
}

extension VersionVector.Entry {
    var brief: String { "\(replica.description.prefix(4)):\(head.sequence)/\(head.digest % 1_000)" }
}
