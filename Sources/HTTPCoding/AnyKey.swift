/// Any key of an object, for whoever looks at what keys there are.
package struct AnyKey: CodingKey {
    /// As it is written.
    package let stringValue: String
    /// An object's keys are text.
    package let intValue: Int? = nil

    /// Each text is one.
    package init(stringValue: String) { self.stringValue = stringValue }
    /// No number is.
    package init?(intValue: Int) { nil }
}
