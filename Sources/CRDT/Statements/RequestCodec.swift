/// The encoding of requests to the server and of its answers, statements on the job's own item (see `StatementCodec`):
///
///     statement = 6 request: token:16 flags:1 [after:16] priority:1 lane:string kind:string payload:bytes
///                            key:32 nonce:16 signature:64
///                 7 withdrawal: token:16
///                 8 outcome: token:16 verdict:1 reason:string
///                 9 publication: name:string value:string
///     bytes     = length:varint  that many
enum RequestCodec {
    private static let hasPredecessor: UInt8 = 1

    static func encode(_ request: MutationRequest, into writer: inout ByteWriter) {
        encodeSignedFields(of: request, into: &writer)
        writer.append(request.signature.value)
    }

    static func encodeSignedFields(of request: MutationRequest, into writer: inout ByteWriter) {
        writer.write(request.token.value)
        writer.write(byte: request.after == nil ? 0 : hasPredecessor)
        if let after = request.after { writer.write(after.value) }
        writer.write(byte: request.priority)
        writer.write(request.lane)
        writer.write(request.kind)
        writer.write(varint: UInt64(request.payload.count))
        writer.append(request.payload)
        writer.append(request.signature.key)
        writer.write(request.signature.nonce)
    }

    static func encode(_ outcome: Outcome, into writer: inout ByteWriter) {
        writer.write(outcome.token.value)
        writer.write(byte: outcome.verdict.rawValue)
        writer.write(outcome.reason)
    }

    static func encode(_ published: PublishedValue, into writer: inout ByteWriter) {
        writer.write(published.name.text)
        writer.write(published.value)
    }

    static func decodeToken(_ reader: inout ByteReader) throws(CodecError) -> MutationToken {
        MutationToken(try reader.readInteger())
    }

    static func decodeRequest(_ reader: inout ByteReader) throws(CodecError) -> MutationRequest {
        let token = try decodeToken(&reader)
        let flags = try reader.readByte()
        guard flags & ~hasPredecessor == 0 else { throw .unknownKind(flags) }
        let after: MutationToken? = flags & hasPredecessor == 0 ? nil : try decodeToken(&reader)
        let priority = try reader.readByte()
        let lane = try reader.readString(atMost: MutationRequest.longestName)
        let kind = try reader.readString(atMost: MutationRequest.longestName)
        let count = try reader.readVarint()
        guard count <= UInt64(MutationRequest.longestPayload) else {
            throw .limitExceeded("a payload of \(count) bytes")
        }
        let payload = Array(reader.buffer[try reader.readRange(count: Int(count))])
        let request = MutationRequest(
            token: token, lane: lane, after: after, priority: priority, kind: kind, payload: payload,
            signature: try decodeSignature(&reader))
        guard request.isWellFormed else { throw .limitExceeded("a request with an odd lane or kind") }
        return request
    }

    private static func decodeSignature(_ reader: inout ByteReader) throws(CodecError) -> RequestSignature {
        let key = Array(reader.buffer[try reader.readRange(count: RequestSignature.keyBytes)])
        let nonce: UInt128 = try reader.readInteger()
        let value = Array(reader.buffer[try reader.readRange(count: RequestSignature.valueBytes)])
        guard let signature = RequestSignature(key: key, nonce: nonce, value: value) else { throw .truncated }
        return signature
    }

    static func decodeOutcome(_ reader: inout ByteReader) throws(CodecError) -> Outcome {
        let token = try decodeToken(&reader)
        let code = try reader.readByte()
        guard let verdict = Outcome.Verdict(rawValue: code) else { throw .unknownKind(code) }
        return Outcome(
            token: token, verdict: verdict, reason: try reader.readString(atMost: Outcome.longestReason))
    }

    static func decodePublished(_ reader: inout ByteReader) throws(CodecError) -> PublishedValue {
        let name = try reader.readString(atMost: FieldName.longest)
        guard !name.isEmpty else { throw .empty }
        return PublishedValue(
            name: FieldName(checked: name), value: try reader.readString(atMost: ChangeLimits.valueBytes))
    }
}
