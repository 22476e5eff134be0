/// SipHash-2-4 with a 64-bit result (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012).
///
/// It finds accidents — a restored store, a flipped bit — and is no defence against a forger: authenticity comes from
/// the connection.
package enum SipHash {
    /// Hashes any number of bytes, none included.
    /// - Parameter key: k0 and k1 of the paper: the halves of the 16-byte key.
    package static func hash(_ bytes: UnsafeRawBufferPointer, key: (UInt64, UInt64)) -> UInt64 {
        var state = State(key: key)
        var offset = 0
        while offset + 8 <= bytes.count {
            state.absorb(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        var last = UInt64(truncatingIfNeeded: bytes.count) << 56
        var shift: UInt64 = 0
        while offset < bytes.count {
            last |= UInt64(bytes[offset]) << shift
            shift += 8
            offset += 1
        }
        state.absorb(last)
        return state.finish()
    }

    private struct State {
        var v0: UInt64
        var v1: UInt64
        var v2: UInt64
        var v3: UInt64

        init(key: (UInt64, UInt64)) {
            v0 = 0x736f_6d65_7073_6575 ^ key.0
            v1 = 0x646f_7261_6e64_6f6d ^ key.1
            v2 = 0x6c79_6765_6e65_7261 ^ key.0
            v3 = 0x7465_6462_7974_6573 ^ key.1
        }

        @inline(__always)
        mutating func absorb(_ word: UInt64) {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }

        @inline(__always)
        mutating func finish() -> UInt64 {
            v2 ^= 0xff
            for _ in 0..<4 { round() }
            return v0 ^ v1 ^ v2 ^ v3
        }

        @inline(__always)
        mutating func round() {
            v0 &+= v1
            v1 = v1 << 13 | v1 >> 51
            v1 ^= v0
            v0 = v0 << 32 | v0 >> 32
            v2 &+= v3
            v3 = v3 << 16 | v3 >> 48
            v3 ^= v2
            v0 &+= v3
            v3 = v3 << 21 | v3 >> 43
            v3 ^= v0
            v2 &+= v1
            v1 = v1 << 17 | v1 >> 47
            v1 ^= v2
            v2 = v2 << 32 | v2 >> 32
        }
    }
}
