import CRDT
import Testing

@testable import Inventory

/// What is doubted where it is entered, and what is not.
struct FieldCheckTests {
    private func doubt(_ field: String, _ value: String, in state: ItemState? = nil) throws -> FieldDoubt? {
        var check = FieldCheck()
        let pair = Edit.FieldValue(field: try #require(FieldName(field)), value: value)
        return check.doubt(about: pair, in: state)
    }

    private func item(_ field: FieldName, _ value: String) -> ItemState {
        var state = ItemState()
        let change = Change(
            item: ItemID(1), stamp: Stamp(milliseconds: 1, counter: 0),
            operations: [.set(field: field, value: value, replaces: [])])
        state.apply(change, in: ReplicaID(7))
        return state
    }

    @Test(
        "A quantity is a whole number from 0 to 999,999, as whoever adds it up reads it",
        arguments: ["0", "1", "03", " 3", "3 ", "2.0", "2.", "2.000000000", "999999", "999999.0", "", "  "])
    func quantities(value: String) throws {
        #expect(try doubt("quantity", value) == nil)
    }

    @Test(
        "Anything else is doubted, and shown in the sentence",
        arguments: [
            "abc", "-3", "-0", "+3", "1e3", "0x10", "∞", "NaN", "1,000", "1 000", "1.5", "0.0004", "1.9996", "1000000",
            "999999.0001", "99999999999999999999999999", "3 pairs", "٣", "３", "²", "½", "3\u{A0}", "3\n", "\u{200B}3",
            "3\u{301}", ".", "-", "2000000000091",
        ])
    func noQuantities(value: String) throws {
        let doubt = try #require(try doubt("quantity", value))
        #expect(doubt.problem == .noQuantity(value) && doubt.candidates.isEmpty)
        #expect(
            doubt.sentence
                == "'quantity' is a whole number from 0 to 999999, not '\(value)'; add --force if it is meant.")
    }

    @Test(
        "A barcode of which a spreadsheet has left the first digits is doubted",
        arguments: ["2.00000E+12", "2E+12", "4,00638E+12", "2.0e+12", " 2.00000E+12 "])
    func roundedBarcodes(value: String) throws {
        let doubt = try #require(try doubt("barcode", value))
        #expect(doubt.problem == .roundedBarcode(value) && doubt.sentence.contains("make its column text"))
        #expect(try self.doubt("name", value) == nil)
        #expect(try self.doubt("barcode", value, in: item(WellKnownField.barcode, value)) == nil)
    }

    @Test(
        "Whatever else is a barcode",
        arguments: ["2000000000091", "2E12", "E+12", "20.5E+12", "2.E+12", "2.5.1E+12", "2E+1X", "A2E+12", "E", "+"])
    func barcodes(value: String) throws {
        #expect(try doubt("barcode", value) == nil)
    }

    @Test("A volume is a number from 0 to 99,999", arguments: ["0", "1.5", ".5", "99999", "99999.000", " 7 "])
    func volumes(value: String) throws {
        #expect(try doubt("volumeCubicFeet", value) == nil)
    }

    @Test("Anything else is no volume", arguments: ["1,5", "-1", "inf", "nan", "99999.001", "1e2", "12 cu ft", "١"])
    func noVolumes(value: String) throws {
        #expect(try doubt("volumeCubicFeet", value)?.problem == .noVolume(value))
    }

    @Test("Every category of the catalogue is taken, and none at all")
    func categories() throws {
        for category in Catalogue.categories { #expect(try doubt("category", category.id) == nil) }
        #expect(try doubt("category", "") == nil)
        #expect(try doubt("category", " sofa-3-seat ") == nil, "the volume reads it so")
    }

    @Test(
        "Another one is answered with those that have its words, else with the nearest",
        arguments: [
            ("sofa", ["sofa-3-seat", "sofa-4-seat", "sofa-loveseat", "sofa-sectional"]),
            ("Sofa (three seats)", ["sofa-3-seat"]), ("SOFA 3 SEAT", ["sofa-3-seat"]), ("sofa-3-set", ["sofa-3-seat"]),
            ("pinao-upright", ["piano-upright"]), ("love seat", ["sofa-loveseat"]), ("harpsichord", []), ("🛋", []),
            ("-", []),
        ])
    func nearestCategories(value: String, nearest: [String]) throws {
        let doubt = try #require(try doubt("category", value))
        #expect(doubt.candidates == nearest)
        #expect(doubt.sentence.contains(nearest.first ?? "'muster catalogue'"))
    }

    @Test("However long a value is, its sentence is short")
    func long() throws {
        let long = String(repeating: "sofa ", count: 10_000)
        for field in ["quantity", "volumeCubicFeet", "category"] {
            #expect(try #require(try doubt(field, long)).sentence.count < 200)
        }
    }

    @Test(
        "A name that is nearly a well-known one is doubted, with that one",
        arguments: [
            ("quantiy", "quantity"), ("qauntity", "quantity"), ("quatnity", "quantity"), ("Quantity", "quantity"),
            ("qty", "quantity"), ("QUANTITY", "quantity"), ("barcod", "barcode"), ("bar code", "barcode"),
            ("bar_code", "barcode"), ("catgory", "category"), ("categroy", "category"), ("nmae", "name"),
            ("Name", "name"),
            ("names", "name"), ("romo", "room"), ("rooms", "room"), ("Condition", "condition"),
            ("condtion", "condition"),
            ("volumecubicfeet", "volumeCubicFeet"), ("volume (cubic feet)", "volumeCubicFeet"),
            ("cu ft", "volumeCubicFeet"),
            ("note", "notes"),
        ])
    func slips(name: String, nearest: String) throws {
        #expect(try doubt(name, "x")?.problem == .misspelt(nearest: nearest))
        #expect(try doubt(name, "")?.candidates == [nearest], "nor is it emptied where it is not")
    }

    @Test(
        "Any other name is meant, however like a well-known one it is",
        arguments: [
            "name", "date", "made", "quality", "title", "code", "type", "size", "photo", "barcode2", "room 2", "colour",
            "owner", "value", "weight", "x", "Größe", "名前", "volume", "width_mm", "accession_number", "classification",
        ])
    func names(name: String) throws {
        #expect(try doubt(name, "x") == nil)
    }

    @Test("What the item has already is not doubted, and what it has under an odd name may be changed")
    func known() throws {
        #expect(try doubt("quantity", "abc", in: item("quantity", "abc")) == nil)
        #expect(try doubt("quantity", "abd", in: item("quantity", "abc")) != nil)
        #expect(try doubt("nmae", "x", in: item("nmae", "y")) == nil)
        #expect(try doubt("nmae", "", in: item("nmae", "y")) == nil)
        #expect(try doubt("nmae", "x", in: item("name", "y")) != nil)
    }

    @Test("A check that is asked again says the same")
    func again() throws {
        var check = FieldCheck()
        for _ in 1...3 {
            let sofa = check.doubt(about: Edit.FieldValue(field: "category", value: "sofa-3-set"), in: nil)
            #expect(sofa?.candidates == ["sofa-3-seat"])
            #expect(check.doubt(about: Edit.FieldValue(field: "date", value: "1900"), in: nil) == nil)
            #expect(check.doubt(about: Edit.FieldValue(field: "quantiy", value: "1"), in: nil) != nil)
        }
    }
}
