// Ids as people write them: by their beginning or their end.

extension String {
    /// Of an id: whether it begins as was written, byte by byte. Nothing is the beginning of none.
    package func begins(with written: String) -> Bool {
        !written.isEmpty && utf8.starts(with: written.utf8)
    }

    /// Of an id: whether it ends as was written, byte by byte. Less than four characters are the end of none: of a UUID of
    /// version 7 the end is random, and the shorter the more ids share it by chance.
    package func ends(with written: String) -> Bool {
        written.utf8.count >= 4 && utf8.reversed().starts(with: written.utf8.reversed())
    }
}

extension ClosedRange<UInt128> {
    /// The ids that begin with these hexadecimal digits, 1 to 32 of them; nil for anything else.
    package init?(hexadecimalPrefix digits: String) {
        let missing = 32 - digits.utf8.count
        guard (0..<32).contains(missing),
            let least = UInt128(hexadecimalDigits: digits + String(repeating: "0", count: missing), count: 32),
            let greatest = UInt128(hexadecimalDigits: digits + String(repeating: "f", count: missing), count: 32)
        else { return nil }
        self = least...greatest
    }
}
