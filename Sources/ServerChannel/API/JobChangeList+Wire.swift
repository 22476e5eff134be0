import CRDT
import SwiftProtobuf

extension JobChangeList {
    /// The message `JobChanges` of channel.proto.
    package func protobuf() throws -> [UInt8] {
        var wire = WireJobChanges()
        wire.jobs = entries.map(\.job.text)
        wire.channels = entries.map(\.channel)
        wire.fingerprints = entries.map(\.fingerprint)
        wire.assignments = entries.map(\.assignments)
        wire.ownOnly = entries.map(\.isOwnOnly)
        wire.cursor = cursor
        wire.isFromStart = isFromStart
        return try wire.bytes()
    }

    /// Reads the message `JobChanges`.
    ///
    /// - Throws: `MalformedMessage`, as do the others here.
    package init(protobuf bytes: [UInt8]) throws {
        let wire = try WireJobChanges(bytes)
        guard wire.channels.count == wire.jobs.count, wire.fingerprints.count == wire.jobs.count,
            wire.assignments.count == wire.jobs.count, wire.ownOnly.count == wire.jobs.count
        else {
            throw MalformedMessage(sentence: "The columns of the list are not of one length.")
        }
        let entries = try wire.jobs.indices.map { index in
            guard let job = JobID(wire.jobs[index]) else { throw MalformedMessage(sentence: "A job has an odd id.") }
            return Entry(
                job: job, channel: wire.channels[index], fingerprint: wire.fingerprints[index],
                assignments: wire.assignments[index], isOwnOnly: wire.ownOnly[index])
        }
        self.init(entries: entries, cursor: wire.cursor, isFromStart: wire.isFromStart)
    }
}
