/// A path of an API, with `{name}` for each segment that varies.
package struct PathPattern: Hashable, Sendable {
    /// As the API's document writes it.
    package let text: String

    /// Takes a path that begins with `/`.
    package init(_ text: String) {
        self.text = text
    }

    /// Whether a request's path is of this form.
    package func matches(_ path: String) -> Bool {
        let form = text.split(separator: "/")
        let given = path.split(separator: "/")
        return form.count == given.count && zip(form, given).allSatisfy { $0.first == "{" || $0 == $1 }
    }

    /// How many segments are written out: of several forms of one path the one with the most is meant.
    package var literalCount: Int { text.split(separator: "/").count { $0.first != "{" } }
}
