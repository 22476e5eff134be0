import CRDT

/// What people enter besides what nobody else writes: texts of few, that are spelt in several ways or need escapes, and
/// numbers that are none.
enum OddTexts {
    private static let unicode = [
        "Caf\u{e9}", "Cafe\u{301}", "\"\u{301}", "\\\u{7}\t\r\n", "\u{1F4E6}\u{200D}\u{1F69A}", "\u{2028}a,b;c",
        "\u{FF21}-100", "\u{feff}x", "Den", "",
    ]
    private static let numbers = ["1", "2", "10", "", "many", "3"]
    private static let volumes = ["2.5", "10", "0.125", "big", "", "7"]
    private static let categories = ["sofa-3-seat", "carton-small", "piano-upright", "nothing known"]

    /// What is written into a field; what is added up is of few kinds.
    static func text(in field: FieldName, _ number: Int) -> String {
        switch field {
        case "quantity": numbers[number % numbers.count]
        case "volumeCubicFeet": volumes[number % volumes.count]
        case "category": categories[number % categories.count]
        default: unicode[number % unicode.count]
        }
    }
}
