import Replication

extension String {
    /// This text, if it is short enough and has nothing that would act on a terminal or split a log line.
    func checked(_ field: WireFormatError.Field, limit: Int = ProtocolLimits.nameBytes) throws -> String {
        guard utf8.count <= limit else { throw WireFormatError.textTooLong(field, bytes: utf8.count) }
        guard !unicodeScalars.contains(where: \.isControl) else { throw WireFormatError.controlCharacter(field) }
        return self
    }

    /// As much of this text as may be sent as a reason, with control characters blotted out.
    var asReason: String {
        var reason = ""
        var length = 0
        for scalar in unicodeScalars {
            let kept = scalar.isControl ? " " : scalar
            length += UTF8.width(kept)
            if length > ProtocolLimits.reasonBytes { break }
            reason.unicodeScalars.append(kept)
        }
        return reason
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { properties.generalCategory == .control }
}
