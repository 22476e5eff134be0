import CRDT
import FoundationEssentials

// Ids travel as big-endian bytes: 16 of a replica, 32 of a device, and of a digest.

extension ReplicaID {
    static let wireBytes = 16

    var wire: Data { Data(bigEndian: value) }

    init(wire: Data) throws {
        guard let value = UInt128(bigEndian: wire) else {
            throw WireFormatError.identifierLength(.replica, bytes: wire.count)
        }
        self.init(value)
    }
}

extension DeviceID {
    var wire: Data { Data(bigEndian: high) + Data(bigEndian: low) }

    init(wire: Data) throws {
        guard let high = UInt128(bigEndian: wire.prefix(16)), let low = UInt128(bigEndian: wire.dropFirst(16)) else {
            throw WireFormatError.identifierLength(.device, bytes: wire.count)
        }
        self.init(high: high, low: low)
    }
}

extension JournalDigest {
    static let wireBytes = 32

    var wire: Data { Data(bytes) }

    init(wire: Data) throws {
        guard let digest = wire.withUnsafeBytes({ JournalDigest($0) }) else {
            throw WireFormatError.identifierLength(.digest, bytes: wire.count)
        }
        self = digest
    }
}

extension JobID {
    init(wire: String) throws {
        guard let job = JobID(wire) else { throw WireFormatError.jobName }
        self = job
    }
}

extension Data {
    init(bigEndian value: UInt128) {
        self = Swift.withUnsafeBytes(of: value.bigEndian) { Data($0) }
    }
}

extension UInt128 {
    /// Nil for anything but 16 bytes.
    init?(bigEndian bytes: Data) {
        guard bytes.count == MemoryLayout<UInt128>.size else { return nil }
        self.init(bigEndian: bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt128.self) })
    }
}
