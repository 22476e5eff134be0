import Foundation

/// The part of JSON Schema that `openapi.json` uses, enough to find an answer that is not what is documented.
struct SchemaCheck {
    let document: [String: Any]

    /// What is wrong with the value; empty when nothing is.
    func problems(_ value: Any, _ schema: [String: Any], at place: String = "$") -> [String] {
        if let reference = schema["$ref"] as? String {
            return problems(value, resolve(reference), at: place)
        }
        if let choices = schema["oneOf"] as? [[String: Any]] {
            let count = choices.count { problems(value, $0, at: place).isEmpty }
            return count == 1 ? [] : ["\(place) matches \(count) of \(choices.count) choices"]
        }
        if let parts = schema["allOf"] as? [[String: Any]] {
            return parts.flatMap { problems(value, $0, at: place) }
        }
        if let expected = schema["const"] as? String {
            return value as? String == expected ? [] : ["\(place) is not \(expected)"]
        }
        if let allowed = schema["enum"] as? [String] {
            return (value as? String).map(allowed.contains) == true ? [] : ["\(place) is not among \(allowed)"]
        }
        let types = schema["type"] as? [String] ?? [schema["type"] as? String].compactMap { $0 }
        guard types.isEmpty || types.contains(where: { isOf($0, value) }) else {
            return ["\(place) is not of type \(types)"]
        }
        return parts(value, schema, place)
    }

    func resolve(_ reference: String) -> [String: Any] {
        reference.split(separator: "/").dropFirst().reduce(document) {
            (node: [String: Any], key: Substring) -> [String: Any] in
            node[String(key)] as? [String: Any] ?? [:]
        }
    }

    private func parts(_ value: Any, _ schema: [String: Any], _ place: String) -> [String] {
        if let elements = value as? [Any], let schema = schema["items"] as? [String: Any] {
            return elements.enumerated().flatMap { problems($1, schema, at: "\(place)[\($0)]") }
        }
        guard let object = value as? [String: Any] else { return [] }
        let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
        var result = (schema["required"] as? [String] ?? []).filter { object[$0] == nil }.map {
            "\(place).\($0) is missing"
        }
        for (key, element) in object {
            if let property = properties[key] ?? schema["additionalProperties"] as? [String: Any] {
                result += problems(element, property, at: "\(place).\(key)")
            }
        }
        return result
    }

    /// Names of the object's keys that its schema does not mention.
    func undocumented(_ value: Any, _ schema: [String: Any]) -> [String] {
        let schema = (schema["$ref"] as? String).map(resolve) ?? schema
        if let elements = value as? [Any], let element = schema["items"] as? [String: Any] {
            return elements.flatMap { undocumented($0, element) }
        }
        guard let object = value as? [String: Any], let properties = schema["properties"] as? [String: Any] else {
            return []
        }
        return object.keys.filter { properties[$0] == nil }
    }

    private func isOf(_ type: String, _ value: Any) -> Bool {
        switch type {
        case "object": value is [String: Any]
        case "array": value is [Any]
        case "string": value is String
        case "integer": (value as? NSNumber).map { $0.doubleValue == $0.doubleValue.rounded() } ?? false
        case "number": value is NSNumber
        case "boolean": value is Bool
        case "null": value is NSNull
        default: false
        }
    }
}
