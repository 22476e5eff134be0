/// What is told with a tag of the state that it shows, in the header `ETag` (RFC 9110 section 8.8.3).
package protocol Tagged {
    /// The opaque text between the quotes; nil where there is none.
    var entityTag: String? { get }
}

/// The headers `If-Match` and `If-None-Match` (RFC 9110 sections 13.1.1 and 13.1.2).
package enum EntityTagCondition: Hashable, Sendable {
    /// `*`: it only has to be there, which every path wants by itself.
    case any
    /// One of these; a weak one (`W/`) fits nothing.
    case strong([String])

    /// Reads the field's value; throws `invalidRequest` for what is no list of entity tags.
    ///
    /// - Parameter isWeak: whether a weak tag fits the strong one of its text, as it does in `If-None-Match`.
    package init(parsing text: String, isWeak comparesWeakly: Bool = false) throws(APIError) {
        let isSpace = { (letter: Character) in letter == " " || letter == "\t" }
        var rest = text.drop(while: isSpace)
        if rest.first == "*", rest.dropFirst().allSatisfy(isSpace) {
            self = .any
            return
        }
        var tags: [String] = []
        repeat {
            let isWeak = rest.hasPrefix("W/")
            let quoted = rest.dropFirst(isWeak ? 2 : 0)
            let tag = quoted.dropFirst().prefix { $0 != "\"" }
            let after = quoted.dropFirst(tag.count + 2).drop(while: isSpace)
            guard quoted.first == "\"", quoted.dropFirst(tag.count + 1).first == "\"", after.first ?? "," == "," else {
                throw APIError(
                    .invalidRequest, "'\(text)' is no entity tag: give that of ETag with its quotes, or *.")
            }
            if !isWeak || comparesWeakly { tags.append(String(tag)) }
            rest = after.dropFirst().drop(while: isSpace)
        } while !rest.isEmpty
        self = .strong(tags)
    }
}
