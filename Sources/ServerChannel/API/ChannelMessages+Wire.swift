package import CRDT
import FoundationEssentials
import Outbox
import SwiftProtobuf

extension JobChangeList {
    /// The message `JobChanges` of channel.proto.
    package func protobuf() throws -> [UInt8] {
        var wire = WireJobChanges()
        wire.jobs = entries.map(\.job.text)
        wire.channels = entries.map(\.channel)
        wire.fingerprints = entries.map(\.fingerprint)
        wire.cursor = cursor
        wire.isFromStart = isFromStart
        return try wire.bytes()
    }

    /// Reads the message `JobChanges`.
    ///
    /// - Throws: `MalformedMessage`, as do the others here.
    package init(protobuf bytes: [UInt8]) throws {
        let wire = try WireJobChanges(bytes)
        guard wire.channels.count == wire.jobs.count, wire.fingerprints.count == wire.jobs.count else {
            throw MalformedMessage(sentence: "The columns of the list are not of one length.")
        }
        let entries = try wire.jobs.indices.map { index in
            guard let job = JobID(wire.jobs[index]) else { throw MalformedMessage(sentence: "A job has an odd id.") }
            return Entry(job: job, channel: wire.channels[index], fingerprint: wire.fingerprints[index])
        }
        self.init(entries: entries, cursor: wire.cursor, isFromStart: wire.isFromStart)
    }
}

extension SegmentList {
    /// The message `Segments` of channel.proto.
    package func protobuf() throws -> [UInt8] { try wire.bytes() }

    /// Reads the message `Segments`; each run is checked as by `JournalSegment(checkedReplica:)`.
    package init(protobuf bytes: [UInt8]) throws {
        try self.init(WireSegments(bytes))
    }

    init(_ wire: WireSegments) throws {
        self.init(segments: try wire.segments.map(JournalSegment.init), head: wire.head)
    }

    var wire: WireSegments {
        var wire = WireSegments()
        wire.segments = segments.map(\.wire)
        wire.head = head
        return wire
    }
}

extension JournalSegment {
    /// Checks a run as far as it can be without the journal before it; the bytes are not looked into.
    ///
    /// - Throws: `MalformedMessage` without bytes, or unless 1 ≤ `first` ≤ `last` ≤ `ChangeLimits.sequence`.
    package init(
        checkedReplica replica: ReplicaID, first: UInt64, last: UInt64, digest: UInt64, bytes: [UInt8]
    ) throws {
        guard first >= 1, last >= first, last <= ChangeLimits.sequence, !bytes.isEmpty else {
            throw MalformedMessage(sentence: "A run of journal is empty, or its sequences are not in order.")
        }
        self.init(replica: replica, first: first, head: JournalHead(sequence: last, digest: digest), bytes: bytes)
    }

    fileprivate init(_ wire: WireSegment) throws {
        try self.init(
            checkedReplica: ReplicaID(try UInt128(wire: wire.replica)), first: wire.first, last: wire.last,
            digest: wire.digest, bytes: [UInt8](wire.changes))
    }

    fileprivate var wire: WireSegment {
        var wire = WireSegment()
        wire.replica = replica.value.wire
        wire.first = first
        wire.last = head.sequence
        wire.digest = head.digest
        wire.changes = Data(bytes)
        return wire
    }
}

extension JobHoldings {
    /// The message `Vector` of channel.proto.
    package func protobuf() throws -> [UInt8] {
        var wire = WireVector()
        (wire.replicas, wire.sequences, wire.digests) = vector.columns
        if let removal { wire.removal = removal.wire }
        return try wire.bytes()
    }

    /// Reads the message `Vector`; a removal within it is checked as by `JobRemoval(checkedName:entries:)`.
    package init(protobuf bytes: [UInt8]) throws {
        let wire = try WireVector(bytes)
        self.init(
            vector: VersionVector(
                try VersionVector.entries(
                    replicas: wire.replicas, sequences: wire.sequences, digests: wire.digests)),
            removal: wire.hasRemoval ? try JobRemoval(wire.removal) : nil)
    }
}

extension JobRemoval {
    /// The message `Removal` of channel.proto.
    package func protobuf() throws -> [UInt8] { try wire.bytes() }

    /// Reads the message `Removal`, checked as by `init(checkedName:entries:)`.
    package init(protobuf bytes: [UInt8]) throws { try self.init(WireRemoval(bytes)) }

    /// Checks what comes from outside.
    ///
    /// - Throws: `MalformedMessage` for a name of more than 256 Unicode scalars, for more than
    ///   `ChangeLimits.positions` journals, and for one that reaches beyond `ChannelLimits.removedSequence`.
    package init(checkedName name: String, entries: [VersionVector.Entry]) throws {
        guard Self.isNameBounded(name) else {
            throw MalformedMessage(sentence: "The name of the job is longer than \(Self.longestName) characters.")
        }
        // Before those of one journal become one.
        guard entries.count <= ChangeLimits.positions else {
            throw MalformedMessage(sentence: "The removal names more than \(ChangeLimits.positions) journals.")
        }
        guard entries.allSatisfy({ $0.head.sequence <= ChannelLimits.removedSequence }) else {
            throw MalformedMessage(sentence: "The removal names a journal that has no end.")
        }
        self.init(name: name, heads: VersionVector(entries))
    }

    fileprivate init(_ wire: WireRemoval) throws {
        try self.init(
            checkedName: wire.name,
            entries: VersionVector.entries(
                replicas: wire.replicas, sequences: wire.sequences, digests: wire.digests))
    }

    fileprivate var wire: WireRemoval {
        var wire = WireRemoval()
        wire.name = name
        (wire.replicas, wire.sequences, wire.digests) = heads.columns
        return wire
    }
}

extension VersionVector {
    fileprivate var columns: (replicas: Data, sequences: [UInt64], digests: [UInt64]) {
        var replicas = Data()
        for entry in entries { replicas.append(entry.replica.value.wire) }
        return (replicas, entries.map(\.head.sequence), entries.map(\.head.digest))
    }

    fileprivate static func entries(replicas: Data, sequences: [UInt64], digests: [UInt64]) throws -> [Entry] {
        guard digests.count == sequences.count, replicas.count == sequences.count * 16 else {
            throw MalformedMessage(sentence: "The columns of the vector are not of one length.")
        }
        guard sequences.allSatisfy({ $0 <= ChangeLimits.sequence }) else {
            throw MalformedMessage(sentence: "A journal of the vector has no end.")
        }
        return try sequences.indices.map { index in
            let start = replicas.startIndex + index * 16
            let replica = ReplicaID(try UInt128(wire: replicas[start..<start + 16]))
            return Entry(replica: replica, head: JournalHead(sequence: sequences[index], digest: digests[index]))
        }
    }
}

extension [Delivery] {
    /// The message `Mutations` of channel.proto.
    package func protobuf() throws -> [UInt8] {
        var wire = WireMutations()
        wire.mutations = map(\.wire)
        return try wire.bytes()
    }

    /// Reads the message `Mutations`, and refuses requests that are not `isWellFormed`.
    package init(protobuf bytes: [UInt8]) throws {
        self = try WireMutations(bytes).mutations.map(Delivery.init)
    }
}

extension Delivery {
    fileprivate init(_ wire: WireMutation) throws {
        guard let priority = UInt8(exactly: wire.priority) else {
            throw MalformedMessage(sentence: "The priority is above 255.")
        }
        guard let job = JobID(wire.job) else { throw MalformedMessage(sentence: "A job has an odd id.") }
        guard wire.channel <= ChangeLimits.sequence else {
            throw MalformedMessage(sentence: "The channel of a job has no end.")
        }
        let request = MutationRequest(
            token: MutationToken(try UInt128(wire: wire.token)), lane: wire.lane,
            after: wire.after.isEmpty ? nil : MutationToken(try UInt128(wire: wire.after)), priority: priority,
            kind: wire.kind, payload: [UInt8](wire.payload))
        guard request.isWellFormed else {
            throw MalformedMessage(sentence: "Lane or kind is odd, or the payload is longer than 64 KiB.")
        }
        self.init(request: request, job: job, knownChannel: wire.hasChannel ? wire.channel : nil)
    }

    fileprivate var wire: WireMutation {
        var wire = WireMutation()
        wire.lane = request.lane
        wire.after = request.after?.value.wire ?? Data()
        wire.priority = UInt32(request.priority)
        wire.kind = request.kind
        wire.payload = Data(request.payload)
        wire.token = request.token.value.wire
        wire.job = job.text
        if let knownChannel { wire.channel = knownChannel }
        return wire
    }
}

extension MutationDecisions {
    /// The message `Decisions` of channel.proto.
    package func protobuf() throws -> [UInt8] {
        var wire = WireDecisions()
        wire.decisions = outcomes.map(\.wire)
        wire.channels = channels.map { channel in
            var news = WireChannelNews()
            news.job = channel.job.text
            news.news = channel.news.wire
            return news
        }
        return try wire.bytes()
    }

    /// Reads the message `Decisions`, and refuses a verdict that this version does not know.
    package init(protobuf bytes: [UInt8]) throws {
        let wire = try WireDecisions(bytes)
        self.init(
            outcomes: try wire.decisions.map(Outcome.init),
            channels: try wire.channels.map { channel in
                guard let job = JobID(channel.job) else { throw MalformedMessage(sentence: "A job has an odd id.") }
                return ChannelNews(job: job, news: try SegmentList(channel.news))
            })
    }
}

extension Outcome {
    fileprivate init(_ wire: WireDecision) throws {
        guard let code = UInt8(exactly: wire.verdict), let verdict = Outcome.Verdict(rawValue: code) else {
            throw MalformedMessage(sentence: "The verdict is none that this version knows.")
        }
        self.init(token: MutationToken(try UInt128(wire: wire.token)), verdict: verdict, reason: wire.reason)
    }

    fileprivate var wire: WireDecision {
        var wire = WireDecision()
        wire.token = token.value.wire
        wire.verdict = UInt32(verdict.rawValue)
        wire.reason = reason
        return wire
    }
}

extension SwiftProtobuf.Message {
    fileprivate init(_ bytes: [UInt8]) throws {
        do { try self.init(serializedBytes: bytes) } catch {
            throw MalformedMessage(sentence: "The bytes are not the protobuf message that belongs here.")
        }
    }

    fileprivate func bytes() throws -> [UInt8] { try serializedBytes() }
}

extension UInt128 {
    /// 16 bytes, big-endian.
    fileprivate var wire: Data { Swift.withUnsafeBytes(of: bigEndian) { Data($0) } }

    fileprivate init(wire: Data) throws {
        guard wire.count == 16 else { throw MalformedMessage(sentence: "An id does not have 16 bytes.") }
        self.init(bigEndian: wire.withUnsafeBytes { $0.loadUnaligned(as: UInt128.self) })
    }
}
