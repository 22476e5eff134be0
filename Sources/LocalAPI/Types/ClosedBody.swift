import HTTPCoding
import Inventory

/// What the body of a request may have: a key that is misspelt must not look like one that was left out.
package protocol ClosedBody: Decodable {
    /// All keys that it may have; beside the values, so that none is forgotten.
    associatedtype CodingKeys: CodingKey & CaseIterable
}

extension ClosedBody {
    /// Its keys as they are written.
    package static var keys: [String] { CodingKeys.allCases.map(\.stringValue) }

    /// - Throws: `APIError` for a key that it does not have, with the nearest that it has.
    static func checkKeys(_ decoder: any Decoder) throws {
        // What is no object is refused by what reads it.
        guard let object = try? decoder.container(keyedBy: AnyKey.self) else { return }
        guard let name = object.allKeys.map(\.stringValue).filter({ !keys.contains($0) }).min() else { return }
        let path = decoder.codingPath.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined().dropFirst()
        let place = path.isEmpty ? "the body" : "'\(path)'"
        let hint = NearestName.of(name, among: keys).map { "did you mean '\($0)'?" }
        let rule = keys.isEmpty ? "leave it out." : "it takes \(keys.joined(separator: ", "))."
        throw APIError(.invalidRequest, "'\(name)' is no key of \(place): \(hint ?? rule)")
    }
}

/// The body of a request that needs none: an object without keys.
package struct NoBody: ClosedBody {
    /// None.
    package enum CodingKeys: CodingKey, CaseIterable {}

    /// Throws for what is no object.
    package init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: CodingKeys.self) }
}

/// A body whose keys are checked before its values, so that a misspelt one is not told as a missing one.
package struct CheckedBody<Body: ClosedBody>: Decodable {
    /// What was read.
    package let body: Body

    /// Throws `APIError` for a key that is none of the body's.
    package init(from decoder: any Decoder) throws {
        try Body.checkKeys(decoder)
        body = try Body(from: decoder)
    }
}
