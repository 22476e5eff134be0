import Authorship
import CRDT

/// Runs of journals as they are not what their authors have signed. Each is well-formed, and nil where the run is too short.
extension JournalSegment {
    func with(
        bytes: [UInt8]? = nil, head: JournalHead? = nil, signature: JournalSignature?? = .none
    ) -> JournalSegment {
        JournalSegment(
            replica: replica, first: first, head: head ?? self.head, bytes: bytes ?? self.bytes,
            signature: signature ?? self.signature, author: author)
    }

    func withOtherByte(using generator: inout SeededGenerator) -> JournalSegment? {
        for _ in 0..<12 where !bytes.isEmpty {
            var altered = bytes
            let place = Int.random(in: 0..<altered.count, using: &generator)
            altered[place] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &generator)
            // What nobody can read is another matter (`Garbage`).
            if isReadable(altered) { return with(bytes: altered) }
        }
        return nil
    }

    func withoutChange(using generator: inout SeededGenerator) -> JournalSegment? {
        var records = records
        guard records.count > 1 else { return nil }
        records.remove(at: Int.random(in: 0..<records.count, using: &generator))
        return with(bytes: records.flatMap(\.self))
    }

    func inOtherOrder(using generator: inout SeededGenerator) -> JournalSegment? {
        var records = records
        guard records.count > 1 else { return nil }
        let place = Int.random(in: 1..<records.count, using: &generator)
        guard records[place] != records[place - 1] else { return nil }
        records.swapAt(place, place - 1)
        return with(bytes: records.flatMap(\.self))
    }

    func withWrongSignature(using generator: inout SeededGenerator) -> JournalSegment? {
        guard var bytes = signature?.bytes, generator.oneIn(4) == false else { return with(signature: .some(nil)) }
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= 1
        return with(signature: JournalSignature(bytes))
    }

    func withOtherHead(using generator: inout SeededGenerator) -> JournalSegment {
        let sequence = head.sequence + (generator.oneIn(2) ? 0 : UInt64.random(in: 1...3, using: &generator))
        return with(head: JournalHead(sequence: sequence, digest: generator.digest()))
    }

    private func isReadable(_ altered: [UInt8]) -> Bool {
        var count: UInt64 = 0
        guard (try? ChangeCodec.scan(altered) { scanned, _ in count += UInt64(scanned.operationCount) }) != nil else {
            return false
        }
        return count == head.sequence + 1 - first
    }

    private var records: [[UInt8]] {
        var records: [[UInt8]] = []
        try? ChangeCodec.scan(bytes) { scanned, buffer in records.append(Array(buffer[scanned.record])) }
        return records
    }
}

extension SeededGenerator {
    /// Of nothing.
    mutating func digest() -> JournalDigest {
        JournalDigest(high: UInt128.random(in: 0...UInt128.max, using: &self), low: UInt128(next()))
    }
}
