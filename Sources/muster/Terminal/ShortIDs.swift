import LocalAPI

/// Parts of ids that are enough to tell them apart, and that can be typed.
///
/// Of a UUID of version 7 the end: its beginning is the time, which all items of an import share. Of the random id of a store or
/// device the beginning. Any other id, such as the office's number of a job, whole.
struct ShortIDs {
    /// Of 16,000 ids hardly two share this many digits of random ends.
    private static let shortestEnding = 6
    private static let shortestBeginning = 8
    /// With no more things than these a list looks at all their ids.
    static let sample = 1_000

    private let ending: Int
    private let beginning: Int

    /// - Parameter isPart: there may be more ids than those given: four digits more than these need.
    init(_ ids: some Sequence<String>, isPart: Bool = false) {
        var (ends, others): ([[UInt8]], [[UInt8]]) = ([], [])
        for id in ids {
            if Self.isUUID(id) { ends.append(Self.digits(id).reversed()) } else { others.append(Array(id.utf8)) }
        }
        ending = Self.length(of: ends, atLeast: Self.shortestEnding) + (isPart ? 4 : 0)
        beginning = Self.length(of: others, atLeast: Self.shortestBeginning)
    }

    subscript(id: String) -> String {
        if Self.isUUID(id) { return Self.ending(of: id, digits: ending) }
        return Self.isRandom(id) ? String(id.prefix(beginning)) : id
    }

    /// As errors name it: whole for a program.
    func told(_ id: String) -> String { Terminal.error.isPiped ? id : self[id] }

    /// One id alone, where it is not known what it has to be told apart from.
    static func one(_ id: String) -> String {
        isUUID(id) ? ending(of: id, digits: 8) : isRandom(id) ? random(id) : id
    }

    /// Eight digits of a device's or replica's random id.
    static func random(_ id: String) -> String {
        String(id.prefix(shortestBeginning))
    }

    /// Never digits alone, which may be another item's barcode, and without hyphens, by which a double click ends. An id that is
    /// nothing but digits stays whole.
    private static func ending(of id: String, digits wanted: Int) -> String {
        let text = digits(id)
        var start = text.count
        var isTold = false
        while start > 0, text.count - start < wanted || !isTold {
            start -= 1
            isTold = isTold || !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[start])
        }
        return isTold ? String(decoding: text[start...], as: UTF8.self) : id
    }

    private static func length(of ids: [[UInt8]], atLeast shortest: Int) -> Int {
        let sorted = ids.sorted { $0.lexicographicallyPrecedes($1) }
        return zip(sorted, sorted.dropFirst()).reduce(shortest) { length, pair in
            pair.0 == pair.1 ? length : max(length, zip(pair.0, pair.1).prefix { $0 == $1 }.count + 1)
        }
    }

    private static func digits(_ id: String) -> [UInt8] { id.utf8.filter { $0 != UInt8(ascii: "-") } }

    private static func isUUID(_ id: String) -> Bool {
        id.utf8.count == 36 && id.utf8.filter { $0 == UInt8(ascii: "-") }.count == 4 && isHexadecimal(digits(id))
    }

    private static func isRandom(_ id: String) -> Bool {
        id.utf8.count >= 32 && isHexadecimal(Array(id.utf8))
    }

    private static func isHexadecimal(_ digits: [UInt8]) -> Bool {
        digits.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
    }
}

extension APIError {
    /// With ids as short as people may type them, where it offers things to choose from.
    var withShortIDs: APIError {
        let short = ShortIDs(candidates, isPart: true)
        var error = self
        for id in candidates { error.message = error.message.replacing(id, with: short.told(id)) }
        return error
    }
}
