/// The encoding of what is said about the job as a whole: its end, what became of late work, requests to the server and
/// its answers.
///
/// They stand on the job's own item only, as kind 0 with a code in the place of the name:
///
///     statement = 1 acknowledge: count:varint  (replica:16 sequence:varint)*             ascending by replica
///                 2 removal: name:string  count:varint  (replica:16 sequence:varint digest:8)*    ascending by replica
///                 3 decide: count:varint  (replica:16 sequence:varint)*                  ascending by replica, sequence
///                 6 to 9 see `RequestCodec`
enum StatementCodec {
    enum Code: UInt8 {
        case acknowledge = 1
        case removeJob = 2
        case decide = 3
        case request = 6
        case withdraw = 7
        case outcome = 8
        case publish = 9
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
        case .decide(let dots):
            writer.write(byte: Code.decide.rawValue)
            writer.write(varint: UInt64(dots.count))
            for dot in dots { encode(dot.replica, dot.sequence, into: &writer) }
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
        writer.write(varint: UInt64(removal.heads.entries.count))
        for entry in removal.heads.entries {
            encode(entry.replica, entry.head.sequence, into: &writer)
            writer.write(entry.head.digest)
        }
    }

    /// Reads and checks a statement whose head byte was `code`.
    static func decode(_ code: UInt8, _ reader: inout ByteReader) throws(CodecError) -> Operation {
        switch Code(rawValue: code) {
        case .acknowledge:
            let positions = try decodeDots(&reader).map { Position(replica: $0.replica, sequence: $0.sequence) }
            for (one, next) in zip(positions, positions.dropFirst()) where one.replica == next.replica {
                throw .disordered
            }
            return .acknowledge(positions)
        case .removeJob: return .removeJob(try decodeRemoval(&reader))
        case .decide: return .decide(try decodeDots(&reader))
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

    /// Ascending, each once.
    private static func decodeDots(_ reader: inout ByteReader) throws(CodecError) -> [Dot] {
        var dots: [Dot] = []
        for _ in 0..<(try decodeCount(&reader, atMost: ChangeLimits.positions)) {
            let dot = Dot(replica: ReplicaID(try reader.readInteger()), sequence: try decodeSequence(&reader))
            if let last = dots.last, last >= dot { throw .disordered }
            dots.append(dot)
        }
        return dots
    }

    private static func decodeRemoval(_ reader: inout ByteReader) throws(CodecError) -> JobRemoval {
        let name = try reader.readString(atMost: 4 * JobRemoval.longestName)
        guard JobRemoval.isNameBounded(name) else { throw .limitExceeded("the name of a removed job") }
        var entries: [VersionVector.Entry] = []
        for _ in 0..<(try decodeCount(&reader, atMost: ChangeLimits.positions)) {
            let replica = ReplicaID(try reader.readInteger())
            if let last = entries.last, last.replica >= replica { throw .disordered }
            let head = JournalHead(sequence: try decodeSequence(&reader), digest: try reader.readInteger())
            guard head.sequence > 0 else { throw .empty }
            entries.append(VersionVector.Entry(replica: replica, head: head))
        }
        return JobRemoval(name: name, heads: VersionVector(entries))
    }
}
