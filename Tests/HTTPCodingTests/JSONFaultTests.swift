import CRDT
import Foundation
import Testing

@testable import HTTPCoding

/// What people are told of a document that cannot be read.
@Suite("JSON that is not what it should be")
struct JSONFaultTests {
    private struct Item: Codable {
        var fields: [String: String?]
        var count: Int?
        var size: Double?
        var isOn: Bool?
        var at: Timestamp?
        var names: [String]?
    }

    private struct Batch: Codable {
        var items: [Item]
    }

    static let cases: [(text: String, sentence: String)] = [
        ("", "it is empty"), (" \n", "it is empty"),
        ("[]", "it must be an object, but is a list"), ("7", "it must be an object, but is a number"),
        ("{}", "'items' is missing in it"),
        (#"{"items": null}"#, "'items' must be a list, but is null"),
        (#"{"items": {}}"#, "'items' must be a list, but is an object"),
        (#"{"items": [{"fields": {}}, {}]}"#, "'fields' is missing in 'items[1]'"),
        (#"{"items": [{"fields": {"room": 7}}]}"#, "'items[0].fields.room' must be a string, but is a number"),
        (#"{"items": [{"fields": {"7": true}}]}"#, "'items[0].fields.7' must be a string, but is true or false"),
        (#"{"items": [{"fields": {}, "isOn": "yes"}]}"#, "'items[0].isOn' must be true or false, but is a string"),
        (#"{"items": [{"fields": {}, "count": "1"}]}"#, "'items[0].count' must be a whole number, but is a string"),
        (
            #"{"items": [{"fields": {}, "count": 1.5}]}"#,
            "one of its numbers does not fit: it is too large, or has a fraction"
        ),
        (#"{"items": [{"fields": {}, "size": [1]}]}"#, "'items[0].size' must be a number, but is a list"),
        (#"{"items": [{"fields": {}, "names": ["a", 1]}]}"#, "'items[0].names[1]' must be a string, but is a number"),
        (
            #"{"items": [{"fields": {}, "at": "today"}]}"#,
            #"'items[0].at' must be a time of the form 2025-03-01T09:30:00.125Z, but is "today""#
        ),
        ("{\"items\": [\n  {,}]}", "it is no JSON in UTF-8 (line 2, column 4)"),
        ("{'items': []}", "it is no JSON in UTF-8 (line 1, column 2)"),
        (#"{"items": []"#, "it is no JSON in UTF-8 (line 1, column 13)"),
    ]

    @Test("It is said where, in the terms of JSON, and in what way", arguments: cases.indices)
    func sentences(index: Int) throws {
        let (text, sentence) = Self.cases[index]
        let fault = #expect(throws: JSONFault.self) { try JSON.decode(Batch.self, from: Array(text.utf8)) }
        #expect(fault?.sentence == sentence)
    }

    static let twice: [(text: String, sentence: String?)] = [
        (#"{"a": 1, "b": 2, "a": 1}"#, "'a' stands twice in it"),
        (#"{"a": 1, "\u0061": 1}"#, "'a' stands twice in it"),
        (#"{"a": [{}, {"b": {"c": 1, "c": 2}}]}"#, "'c' stands twice in 'a[1].b'"),
        ("{\"\u{E9}\": 1, \"e\u{301}\": 1}", "'\u{E9}' stands twice in it"),
        (#"{"a": {"a": {"b": 1}}, "b": {"a": 1}}"#, nil), (#"[{"a": 1}, {"a": 1}]"#, nil),
    ]

    @Test("A key that stands twice in one object is named, however it is written", arguments: twice.indices)
    func keysTwice(index: Int) {
        var told: String?
        do throws(JSONFault) { try JSON.check(Array(Self.twice[index].text.utf8)) } catch { told = error.sentence }
        #expect(told == Self.twice[index].sentence)
    }

    @Test("What is not UTF-8, or deeper than a decoder goes, is refused")
    func bytes() {
        #expect(throws: JSONFault.self) { try JSON.check(Array("\"\u{E9}\"".utf16).flatMap { [UInt8($0 & 0xFF), 0] }) }
        #expect(throws: JSONFault.self) { try JSON.check([0x22, 0xC3, 0x28, 0x22]) }
        #expect(throws: JSONFault.self) { try JSON.check(Array(#""\ud800""#.utf8)) }
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: JSONFault("it has more than 512 levels")) { try JSON.check(Array(deep.utf8)) }
        let most = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(throws: Never.self) { try JSON.check(Array(most.utf8)) }
    }

    @Test("A text that breaks off where it goes too deep is refused, and ends nobody", arguments: 510...516)
    func brokenOff(levels: Int) throws {
        let tooDeep = JSONFault("it has more than 512 levels")
        for (opening, rest) in [("[", ""), ("{\"]\\\"]\":", "{"), ("[", String(repeating: "]", count: levels))] {
            let text = "\r\n" + String(repeating: opening, count: levels - (rest == "{" ? 1 : 0)) + rest
            let told = #expect(throws: JSONFault.self) { try JSON.decode([String].self, from: text.utf8) }
            #expect((told == tooDeep) == (levels > 512))
        }
        // Brackets within a text, and those that are closed, do not count.
        let wide = "[" + String(repeating: "\"[[\\\"{\",", count: levels) + "\"\"]"
        #expect(try JSON.decode([String].self, from: wide.utf8).count == levels + 1)
        let lists = "[" + String(repeating: "[],", count: levels) + "[]]"
        #expect(try JSON.decode([[String]].self, from: lists.utf8).count == levels + 1)
    }

    @Test("Whatever an encoder writes is taken, and nothing that a decoder refuses", arguments: 0..<40)
    func decoders(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let bytes = try JSONEncoder().encode(Tree(depth: 4, using: &generator))
        #expect(throws: Never.self) { try JSON.check(bytes) }
        for _ in 0..<50 {
            var flawed = Array(bytes)
            let place = Int.random(in: flawed.indices, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: flawed[place] = Array("{}[]\",:\\0-. \u{7F}".utf8).randomElement(using: &generator) ?? 0
            case 1: flawed.remove(at: place)
            default: flawed.insert(flawed[Int.random(in: flawed.indices, using: &generator)], at: place)
            }
            guard (try? JSON.check(flawed)) != nil else { continue }
            #expect(throws: Never.self, "\(String(decoding: flawed, as: UTF8.self))") {
                try JSONDecoder().decode(Tree.self, from: Data(flawed))
            }
        }
    }
}

/// Any JSON.
private indirect enum Tree: Codable {
    case null, flag(Bool), number(Double), text(String), list([Tree]), object([String: Tree])

    init(depth: Int, using generator: inout SeededGenerator) {
        let count = Int.random(in: 0..<4, using: &generator)
        switch Int.random(in: 0..<(depth > 0 ? 8 : 4), using: &generator) {
        case 0: self = .null
        case 1: self = .flag(.random(using: &generator))
        case 2:
            // No exponent: with one more digit of it the number is too large for any decoder.
            self = .number(Double(Int.random(in: -1_000_000...1_000_000, using: &generator)) / 8)
        case 3: self = .text(["", "a\"\\/\n\t\u{0}", "花瓶 \u{1F6CB}", "e\u{301}"][count])
        case 4, 5: self = .list((0..<count).map { _ in Tree(depth: depth - 1, using: &generator) })
        default:
            var members: [String: Tree] = [:]
            for key in ["a", "é", "\n", ""].prefix(count) { members[key] = Tree(depth: depth - 1, using: &generator) }
            self = .object(members)
        }
    }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([Tree].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: Tree].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .flag(let flag): try value.encode(flag)
        case .number(let number): try value.encode(number)
        case .text(let text): try value.encode(text)
        case .list(let list): try value.encode(list)
        case .object(let object): try value.encode(object)
        }
    }
}
