/// The encoding of what a replica says about the job as a whole: what it holds, who takes part, what is forgotten.
///
/// They stand on the job's own item only, as kind 0 with a code in the place of the name:
///
///     statement = 1 hold: positions; 2 expel: replica:16 known:varint; 3 fold: positions members items journals;
///                 4 removal of the job: positions; 5 decide: replica:16 upTo:varint; 6 to 9 see `RequestCodec`
///     positions = count:varint  (replica:16 sequence:varint)*        ascending by replica
///     members   = count:varint  replica:16*                          ascending
///     items     = count:varint  item:16*                             ascending
///     journals  = count:varint  (replica:16 count:varint (gap:varint length:varint digest:8)*)*
///
/// A run begins `gap` after the end of the one before it, the first after 0.
enum StatementCodec {
    enum Code: UInt8 {
        case hold = 1
        case expel = 2
        case fold = 3
        case removeJob = 4
        case decide = 5
        case request = 6
        case withdraw = 7
        case outcome = 8
        case publish = 9
    }

    static func encode(_ operation: Operation, into writer: inout ByteWriter) {
        switch operation {
        case .hold(let positions):
            writer.write(byte: Code.hold.rawValue)
            encode(positions, into: &writer)
        case .removeJob(let positions):
            writer.write(byte: Code.removeJob.rawValue)
            encode(positions, into: &writer)
        case .expel(let replica, let known):
            writer.write(byte: Code.expel.rawValue)
            writer.write(replica.value)
            writer.write(varint: known)
        case .decide(let replica, let upTo):
            writer.write(byte: Code.decide.rawValue)
            writer.write(replica.value)
            writer.write(varint: upTo)
        case .fold(let fold):
            writer.write(byte: Code.fold.rawValue)
            encode(fold, into: &writer)
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

    private static func encode(_ positions: [Position], into writer: inout ByteWriter) {
        writer.write(varint: UInt64(positions.count))
        for position in positions {
            writer.write(position.replica.value)
            writer.write(varint: position.sequence)
        }
    }

    private static func encode(_ fold: Fold, into writer: inout ByteWriter) {
        encode(fold.bounds, into: &writer)
        writer.write(varint: UInt64(fold.members.count))
        for member in fold.members { writer.write(member.value) }
        writer.write(varint: UInt64(fold.items.count))
        for item in fold.items { writer.write(item.value) }
        writer.write(varint: UInt64(fold.journals.count))
        for journal in fold.journals {
            writer.write(journal.replica.value)
            writer.write(varint: UInt64(journal.runs.count))
            var last: UInt64 = 0
            for run in journal.runs {
                writer.write(varint: run.span.lowerBound - last)
                writer.write(varint: run.span.upperBound - run.span.lowerBound + 1)
                writer.write(run.digest)
                last = run.span.upperBound
            }
        }
    }

    /// Reads and checks a statement whose head byte was `code`.
    static func decode(_ code: UInt8, _ reader: inout ByteReader) throws(CodecError) -> Operation {
        switch Code(rawValue: code) {
        case .hold: return .hold(try decodePositions(&reader))
        case .removeJob: return .removeJob(try decodePositions(&reader))
        case .expel:
            let replica = ReplicaID(try reader.readInteger())
            return .expel(replica, known: try decodeSequence(&reader))
        case .decide:
            let replica = ReplicaID(try reader.readInteger())
            return .decide(replica, upTo: try decodeSequence(&reader))
        case .fold: return .fold(try decodeFold(&reader))
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

    private static func decodePositions(_ reader: inout ByteReader) throws(CodecError) -> [Position] {
        var positions: [Position] = []
        for _ in 0..<(try decodeCount(&reader, atMost: ChangeLimits.positions)) {
            let replica = ReplicaID(try reader.readInteger())
            if let last = positions.last, last.replica >= replica { throw .disordered }
            positions.append(Position(replica: replica, sequence: try decodeSequence(&reader)))
        }
        return positions
    }

    private static func decodeFold(_ reader: inout ByteReader) throws(CodecError) -> Fold {
        let bounds = try decodePositions(&reader)
        var members: [ReplicaID] = []
        for _ in 0..<(try decodeCount(&reader, atMost: ChangeLimits.positions)) {
            let member = ReplicaID(try reader.readInteger())
            if let last = members.last, last >= member { throw .disordered }
            members.append(member)
        }
        var items: [ItemID] = []
        for _ in 0..<(try decodeCount(&reader, atMost: ChangeLimits.foldedItems)) {
            let item = ItemID(try reader.readInteger())
            if let last = items.last, last >= item { throw .disordered }
            items.append(item)
        }
        var journals: [Fold.Journal] = []
        for _ in 0..<(try decodeCount(&reader, atMost: ChangeLimits.positions)) {
            let replica = ReplicaID(try reader.readInteger())
            if let last = journals.last, last.replica >= replica { throw .disordered }
            journals.append(Fold.Journal(replica: replica, runs: try decodeRuns(&reader)))
        }
        return Fold(bounds: bounds, members: members, items: items, journals: journals)
    }

    private static func decodeRuns(_ reader: inout ByteReader) throws(CodecError) -> [Fold.Run] {
        let count = try decodeCount(&reader, atMost: ChangeLimits.foldedRuns)
        guard count > 0 else { throw .empty }
        var runs: [Fold.Run] = []
        var last: UInt64 = 0
        for _ in 0..<count {
            let gap = try decodeSequence(&reader)
            let length = try decodeSequence(&reader)
            guard gap > 0, length > 0 else { throw .disordered }
            guard last + gap + length - 1 <= ChangeLimits.sequence else { throw .limitExceeded("a run without an end") }
            runs.append(Fold.Run(last + gap...last + gap + length - 1, digest: try reader.readInteger()))
            last += gap + length - 1
        }
        return runs
    }
}
