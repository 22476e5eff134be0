/// What is told with a tag of the state that it shows, in the header `ETag` (RFC 9110 section 8.8.3).
package protocol Tagged {
    /// The opaque text between the quotes; nil where there is none.
    var entityTag: String? { get }
}

/// The header `If-Match` (RFC 9110 section 13.1.1).
package enum EntityTagCondition: Hashable, Sendable {
    /// `*`: it only has to be there, which every path wants by itself.
    case any
    /// One of these; a weak one (`W/`) fits nothing.
    case strong([String])

    /// Reads the field's value; throws `invalidRequest` for what is no list of entity tags.
    package init(parsing text: String) throws(APIError) {
        func trimmed(_ text: Substring) -> Substring {
            let isSpace = { (letter: Character) in letter == " " || letter == "\t" }
            var text = text.drop(while: isSpace)
            while text.last.map(isSpace) ?? false { text.removeLast() }
            return text
        }
        guard trimmed(text[...]) != "*" else {
            self = .any
            return
        }
        var tags: [String] = []
        // No tag of this daemon has a comma in it: one that has is cut, and fits nothing.
        for part in text.split(separator: ",", omittingEmptySubsequences: false).map(trimmed) {
            let isWeak = part.hasPrefix("W/")
            let quoted = isWeak ? part.dropFirst(2) : part
            let tag = quoted.dropFirst().dropLast()
            guard quoted.count >= 2, quoted.first == "\"", quoted.last == "\"", !tag.contains("\"") else {
                throw APIError(
                    .invalidRequest, "'\(text)' is no entity tag: give that of ETag with its quotes, or *.")
            }
            if !isWeak { tags.append(String(tag)) }
        }
        self = .strong(tags)
    }
}
