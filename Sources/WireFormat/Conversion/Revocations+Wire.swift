import FoundationEssentials
import Replication

extension WireRevocations {
    init(_ entries: [[UInt8]]) throws {
        self.init()
        self.entries = entries.map { Data($0) }
        _ = try checkedEntries()
    }

    func checkedEntries() throws -> [[UInt8]] {
        guard entries.count <= ProtocolLimits.revocationsPerMessage else {
            throw WireFormatError.tooManyEntries(.revocations, count: entries.count)
        }
        if let long = entries.first(where: { $0.count > ProtocolLimits.revocationBytes }) {
            throw WireFormatError.textTooLong(.revocations, bytes: long.count)
        }
        return entries.map { Array($0) }
    }
}
