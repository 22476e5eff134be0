import Authorship
package import CRDT
import FoundationEssentials
package import Outbox

extension [Delivery] {
    /// The message `Mutations` of channel.proto.
    package func protobuf() throws -> [UInt8] {
        var wire = WireMutations()
        wire.mutations = map(\.wire)
        wire.authors = map(\.author).eachOnce.map(WireAuthor.init)
        return try wire.bytes()
    }

    /// Reads the message `Mutations`, and refuses requests that are not `isWellFormed`.
    package init(protobuf bytes: [UInt8]) throws {
        let wire = try WireMutations(bytes)
        self.init(try wire.mutations.map(Delivery.init), by: try wire.authors.map { try $0.author() })
    }

    /// Gives each request its author.
    package init(_ deliveries: [Delivery], by authors: [JournalAuthor]) {
        let byName = authors.byName
        self = deliveries.map { delivery in
            var delivery = delivery
            delivery.author = delivery.request.authorName.flatMap { byName[$0] }
            return delivery
        }
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
            kind: wire.kind, payload: [UInt8](wire.payload), signature: try RequestSignature(wire))
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
        wire.key = Data(request.signature.key)
        wire.nonce = request.signature.nonce.wire
        wire.signature = Data(request.signature.value)
        return wire
    }
}

extension RequestSignature {
    fileprivate init(_ wire: WireMutation) throws {
        try self.init(
            checkedKey: [UInt8](wire.key), nonce: UInt128(wire: wire.nonce), signature: [UInt8](wire.signature))
    }

    /// - Throws: `MalformedMessage` unless the key has 32 bytes, and the signature 64.
    package init(checkedKey key: [UInt8], nonce: UInt128, signature: [UInt8]) throws {
        guard let checked = RequestSignature(key: key, nonce: nonce, value: signature) else {
            throw MalformedMessage(sentence: "A request has no key of 32 bytes, or no signature of 64.")
        }
        self = checked
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
