/// A value that travels beside the JSON, in a header of the answer: it is no part of what it stands with, neither in the JSON nor
/// where two are compared.
@propertyWrapper
package struct Unencoded<Value: Sendable>: Codable, Hashable, Sendable {
    /// Nil in whatever was read from JSON.
    package var wrappedValue: Value?

    /// Takes nil where there is none.
    package init(wrappedValue: Value?) {
        self.wrappedValue = wrappedValue
    }

    /// Reads nothing.
    package init(from decoder: any Decoder) throws { wrappedValue = nil }

    /// Writes nothing.
    package func encode(to encoder: any Encoder) throws {}

    /// Always true.
    package static func == (left: Unencoded, right: Unencoded) -> Bool { true }

    /// Takes nothing in.
    package func hash(into hasher: inout Hasher) {}
}

extension KeyedEncodingContainer {
    /// Leaves the key out.
    package func encode<Value>(_ value: Unencoded<Value>, forKey key: Key) throws {}
}

extension KeyedDecodingContainer {
    /// Looks for no key.
    package func decode<Value>(_ type: Unencoded<Value>.Type, forKey key: Key) throws -> Unencoded<Value> {
        Unencoded(wrappedValue: nil)
    }
}
