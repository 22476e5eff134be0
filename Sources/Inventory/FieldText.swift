package import CRDT

/// What people may write into a field, and when two texts are the same. The one place where that is decided.
///
/// | text | leading and trailing white space | control characters | Unicode normalisation |
/// | --- | --- | --- | --- |
/// | barcode, key of an import, name of a job | taken off | refused | none |
/// | any other field, remark | kept | kept, but NUL is refused | none |
///
/// Two texts are the same when their bytes are. Normalising would need Unicode's tables, of which two versions of the program may
/// have two editions; and two labels that were printed differently may be two things. Swift's own `==` on strings holds
/// canonical equivalents equal, so it decides nothing here. NUL is refused because programs that read an export may end a
/// text there. What comes from another device is never refused for its text: it is kept and compared as it is.
package enum FieldText {
    /// How a text is treated where it is entered.
    package enum Kind: Hashable, Sendable {
        /// Names something, and is looked up whole.
        case key
        case text
    }

    /// A key for `barcode`, a text for any other field.
    package static func kind(of field: FieldName) -> Kind {
        field == WellKnownField.barcode ? .key : .text
    }

    /// What a person or a file calls a field; nil where no field can be called so, which `nameRule` says.
    package static func name(_ text: String) -> FieldName? {
        let isPrintable = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0 != "=" }
        return isPrintable ? FieldName(text) : nil
    }

    /// What a name of a field consists of, to follow "use".
    package static let nameRule = "1 to \(FieldName.longest) bytes without '=' or control characters"

    /// What is stored for a text that a person, a scanner or a file has given.
    ///
    /// - Parameter what: what the sentence of a refusal calls it, such as `The value of 'room'`.
    package static func entered(
        _ text: String, as kind: Kind, called what: @autoclosure () -> String
    ) throws(FieldTextRefusal) -> String {
        switch kind {
        case .text:
            guard !text.utf8.contains(0) else { throw FieldTextRefusal(what: what(), problem: .nul) }
            return text
        case .key:
            let trimmed = trimmed(text)
            guard !trimmed.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
                throw FieldTextRefusal(what: what(), problem: .controlCharacter)
            }
            return trimmed
        }
    }

    /// Without the white space (Unicode's property White_Space) around it, such as the return that a scanner sends.
    package static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }

    /// Whether the bytes are the same.
    package static func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8)
    }
}

/// Why a text cannot be entered.
package struct FieldTextRefusal: Error, Hashable, Sendable {
    /// What was found in the text.
    package enum Problem: Hashable, Sendable {
        case nul
        case controlCharacter
    }

    /// How the sentence begins, such as `The value of 'room'`.
    package let what: String
    /// What has to be left out.
    package let problem: Problem

    /// One sentence: what is wrong and what to do.
    package var sentence: String {
        switch problem {
        case .nul: "\(what) has a NUL character; leave it out."
        case .controlCharacter: "\(what) has a control character inside, such as a tab or a line end; leave it out."
        }
    }
}

/// A text as its bytes: what a dictionary is keyed by, where canonical equivalents are not to become one.
package struct TextKey: Hashable, Sendable {
    private let text: String

    /// Takes any text; nothing is normalised.
    package init(_ text: String) {
        self.text = text
    }

    /// Whether the bytes are the same.
    package static func == (left: TextKey, right: TextKey) -> Bool {
        FieldText.isSame(left.text, right.text)
    }

    /// Hashes the bytes, and a last one that no UTF-8 has, so that two keys in a row stay apart.
    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(0xFF as UInt8)
    }
}
