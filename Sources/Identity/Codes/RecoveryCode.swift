import Crypto

/// What a fleet's root key is made of, to be written on paper: 32 characters, 150 bits of chance.
///
/// Who has it has the root: it is shown once, and lies where the deeds of the house lie. It is worth as much as the
/// file of the root with its passphrase, and survives the loss of both.
package struct RecoveryCode: Hashable, Sendable, CustomStringConvertible {
    private static let blocks = 2

    private let code: CheckedCode

    /// Draws a new one, from the system's source of randomness.
    package init() {
        var generator = SystemRandomNumberGenerator()
        code = CheckedCode(blocks: Self.blocks, using: &generator)
    }

    /// Reads what a person has typed.
    package init(_ text: String) throws(CodeFault) {
        code = try CheckedCode(text, blocks: Self.blocks)
    }

    /// The root's key, always the same: HKDF-SHA-256 (RFC 5869) of the 30 characters in capitals.
    package var rootKey: DeviceKey? {
        let secret = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: Array(CheckedCode.text(code.symbols[...]).utf8)),
            info: Array("muster root 1".utf8), outputByteCount: 32)
        return DeviceKey(secret: secret.withUnsafeBytes { Array($0) })
    }

    /// In capitals, in eight groups of four.
    package var description: String { code.text }
}
