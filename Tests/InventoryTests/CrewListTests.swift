import Inventory
import Testing

@Suite("Names are those of the crew's list")
struct CrewListTests {
    private let list = CrewList(["Bob Miller", "Ann", "Zoë", "Ann", "Bob Miles"])

    @Test("The list has each name once, in order")
    func sorted() {
        #expect(list.names == ["Ann", "Bob Miles", "Bob Miller", "Zoë"])
    }

    @Test(
        "A name on the list is taken, also in other letters or with more spaces",
        arguments: [("Ann", "Ann"), ("ann", "Ann"), (" BOB  miller ", "Bob Miller"), ("zoë", "Zoë")])
    func known(entered: String, name: String) throws {
        #expect(try list.name(for: entered, isNew: false) == name)
    }

    @Test(
        "One that is not on it is refused with those that are like it",
        arguments: [
            ("Anna", ["Ann"]), ("Bob", ["Bob Miles", "Bob Miller"]), ("Bob Millers", ["Bob Miller", "Bob Miles"]),
            ("Carl", []),
        ] as [(String, [String])])
    func unknown(entered: String, resembling: [String]) {
        #expect(throws: CrewRefusal.unknown(entered, resembling: resembling)) {
            try list.name(for: entered, isNew: false)
        }
        #expect(CrewRefusal.unknown(entered, resembling: resembling).sentence.contains("--new"))
    }

    @Test("Somebody new is taken as entered, also where somebody is like them, and where the list is empty")
    func new() throws {
        #expect(try list.name(for: "Anna", isNew: true) == "Anna")
        #expect(try list.name(for: "ann", isNew: true) == "ann")
        #expect(try CrewList([]).name(for: " Ann", isNew: true) == "Ann")
        #expect(throws: CrewRefusal.unknown("Ann", resembling: [])) { try CrewList([]).name(for: "Ann", isNew: false) }
    }

    @Test("Of names that differ in case only none is taken for another")
    func twoAlike() {
        let list = CrewList(["Ann", "ANN"])
        #expect(throws: CrewRefusal.unknown("ann", resembling: ["ANN", "Ann"])) {
            try list.name(for: "ann", isNew: false)
        }
    }

    @Test("What is no name is refused, new or not", arguments: ["", "  ", String(repeating: "x", count: 65), "A\tB"])
    func noName(entered: String) {
        #expect(throws: (any Error).self) { try list.name(for: entered, isNew: true) }
    }
}
