/// The encoding of what is said about the job as a whole: its end, what became of late work, requests to the server and
/// its answers.
///
/// They stand on the job's own item only, as kind 0 with a code in the place of the name:
///
///     statement = 1 acknowledge: count:varint  (replica:16 sequence:varint)*             ascending by replica
///                 2 removal: name:string  count:varint  (replica:16 sequence:varint digest:32)*    ascending by replica
///                 10 decide: count:varint  (identity:8)*                                  ascending
///                 6 to 9 see `RequestCodec`
enum StatementCodec {
    enum Code: UInt8 {
        case acknowledge = 1
        case removeJob = 2
        case request = 6
        case withdraw = 7
        case outcome = 8
        case publish = 9
        case decide = 10
    }

    static func encode(_ operation: Operation, into writer: inout ByteWriter) {
        switch operation {
        case .acknowledge(let positions):
            writer.write(byte: Code.acknowledge.rawValue)
            writer.write(varint: UInt64(positions.count))
            for position in positions { encode(position.replica, position.sequence, into: &writer) }
        case .removeJob(let removal):
            writer.write(byte: Code.removeJob.rawValue)
            encode(removal, into: &writer)
        case .decide(let changes):
            writer.write(byte: Code.decide.rawValue)
            writer.write(varint: UInt64(changes.count))
            for change in changes { writer.write(change.value) }
        case .request(let request):
            writer.write(byte: Code.request.rawValue)
            RequestCodec.encode(request, into: &writer)
        case .withdraw(let token):
            writer.write(byte: Code.withdraw.rawValue)
            writer.write(token.value)
        case .outcome(let outcome):
            writer.write(byte: Code.outcome.rawValue)
            RequestCodec.encode(outcome, into: &writer)
        case .publish(let published):
            writer.write(byte: Code.publish.rawValue)
            RequestCodec.encode(published, into: &writer)
        case .set, .append, .remove: break
        }
    }

    private static func encode(_ replica: ReplicaID, _ sequence: UInt64, into writer: inout ByteWriter) {
        writer.write(replica.value)
        writer.write(varint: sequence)
    }

    private static func encode(_ removal: JobRemoval, into writer: inout ByteWriter) {
        writer.write(removal.name)
        encode(removal.heads, into: &writer)
    }

    static func encode(_ heads: VersionVector, into writer: inout ByteWriter) {
        writer.write(varint: UInt64(heads.entries.count))
        for entry in heads.entries {
            encode(entry.replica, entry.head.sequence, into: &writer)
            writer.write(entry.head.digest)
        }
    }

    /// Reads and checks a statement whose head byte was `code`.
    static func decode(_ code: UInt8, _ reader: inout ByteReader) throws(CodecError) -> Operation {
        switch Code(rawValue: code) {
        case .acknowledge:
            return .acknowledge(try decodePositions(&reader))
        case .removeJob: return .removeJob(try decodeRemoval(&reader))
        case .decide: return .decide(try decodeIdentities(&reader))
        case .request: return .request(try RequestCodec.decodeRequest(&reader))
        case .withdraw: return .withdraw(try RequestCodec.decodeToken(&reader))
        case .outcome: return .outcome(try RequestCodec.decodeOutcome(&reader))
        case .publish: return .publish(try RequestCodec.decodePublished(&reader))
        case nil: throw .unknownKind(code)
        }
    }

    private static func decodeSequence(_ reader: inout ByteReader) throws(CodecError) -> UInt64 {
        let sequence = try reader.readVarint()
        guard sequence <= ChangeLimits.sequence else { throw .limitExceeded("a sequence of \(sequence)") }
        return sequence
    }

    private static func decodeCount(_ reader: inout ByteReader, atMost limit: Int) throws(CodecError) -> Int {
        let count = try reader.readVarint()
        guard count <= UInt64(limit) else { throw .limitExceeded("\(count) entries in a statement, at most \(limit)") }
        return Int(count)
    }

    /// Ascending, each replica once.
    private static func decodePositions(_ reader: inout ByteReader) throws(CodecError) -> [Position] {
        var positions: [Position] = []
        for _ in 0..<(try decodeCount(&reader, atMost: ChangeLimits.positions)) {
            let replica = ReplicaID(try reader.readInteger())
            if let last = positions.last, last.replica >= replica { throw .disordered }
            positions.append(Position(replica: replica, sequence: try decodeSequence(&reader)))
        }
        return positions
    }

    /// Ascending, each once.
    private static func decodeIdentities(_ reader: inout ByteReader) throws(CodecError) -> [ChangeIdentity] {
        var changes: [ChangeIdentity] = []
        for _ in 0..<(try decodeCount(&reader, atMost: ChangeLimits.positions)) {
            let change = ChangeIdentity(try reader.readInteger())
            if let last = changes.last, last >= change { throw .disordered }
            changes.append(change)
        }
        return changes
    }

    private static func decodeRemoval(_ reader: inout ByteReader) throws(CodecError) -> JobRemoval {
        let name = try reader.readString(atMost: 4 * JobRemoval.longestName)
        guard JobRemoval.isNameBounded(name) else { throw .limitExceeded("the name of a removed job") }
        return JobRemoval(name: name, heads: try decodeHeads(&reader, atMost: ChangeLimits.positions))
    }

    /// Ascending, none empty.
    static func decodeHeads(_ reader: inout ByteReader, atMost limit: Int) throws(CodecError) -> VersionVector {
        var entries: [VersionVector.Entry] = []
        for _ in 0..<(try decodeCount(&reader, atMost: limit)) {
            let replica = ReplicaID(try reader.readInteger())
            if let last = entries.last, last.replica >= replica { throw .disordered }
            let head = JournalHead(sequence: try decodeSequence(&reader), digest: try reader.readDigest())
            guard head.sequence > 0 else { throw .empty }
            entries.append(VersionVector.Entry(replica: replica, head: head))
        }
        return VersionVector(entries)
    }
}
