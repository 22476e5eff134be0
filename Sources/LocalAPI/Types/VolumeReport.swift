package import HTTPCoding

/// A volume in both of the trade's units.
package struct Volume: Codable, Hashable, Sendable {
    /// To a thousandth of a cubic foot.
    package var cubicFeet: Double
    /// The same volume at 0.028316846592 m³ a cubic foot, to a thousandth.
    package var cubicMetres: Double

    /// Both numbers are of one volume: nothing is converted here.
    package init(cubicFeet: Double, cubicMetres: Double) {
        self.cubicFeet = cubicFeet
        self.cubicMetres = cubicMetres
    }
}

/// What `muster job summary` shows. Made from `Inventory.VolumeSummary`, so that every device gives the same numbers.
package struct VolumeReport: Codable, Hashable, Sendable {
    /// All items that are not removed; its name is `total`.
    package var total: VolumeLine
    /// Sorted by name; items without a room under the empty name.
    package var rooms: [VolumeLine]
    /// Sorted by name; items without a category under the empty name.
    package var categories: [VolumeLine]
    /// The smallest storage unit that holds it all; null when nothing has a volume.
    @Nullable package var storageUnit: StorageUnitReport?
    /// How many items have a volume that nobody knows: they count as nothing in every volume above.
    package var unknownVolumeItems: Int
    /// The ids of the first twenty of them, ascending.
    package var unknownVolumeExamples: [String]
    /// How many items are too large to be added up: a billion cubic feet or more each. They count as nothing in every
    /// volume above.
    package var tooLargeItems: Int
    /// The ids of the first twenty of them, ascending.
    package var tooLargeExamples: [String]
    /// Whether the sums above have stopped at the greatest number that can be.
    package var isCapped: Bool
    /// How many values are not numbers where one is needed; they were not used.
    package var unreadableValues: Int
    /// The first twenty of them.
    package var unreadableExamples: [UnreadableValue]
    /// Where the volumes per category come from.
    package var source: String
    /// Of the inventory that all this was added up from: SHA-256 of the canonical export, 64 hexadecimal digits.
    package var digest: String

    /// The counts are of all, the examples of the first twenty at most.
    package init(
        total: VolumeLine, rooms: [VolumeLine], categories: [VolumeLine], storageUnit: StorageUnitReport?,
        unknownVolumeItems: Int, unknownVolumeExamples: [String], tooLargeItems: Int = 0,
        tooLargeExamples: [String] = [], isCapped: Bool = false, unreadableValues: Int,
        unreadableExamples: [UnreadableValue], source: String, digest: String
    ) {
        self.total = total
        self.rooms = rooms
        self.categories = categories
        self.storageUnit = storageUnit
        self.unknownVolumeItems = unknownVolumeItems
        self.unknownVolumeExamples = unknownVolumeExamples
        self.tooLargeItems = tooLargeItems
        self.tooLargeExamples = tooLargeExamples
        self.isCapped = isCapped
        self.unreadableValues = unreadableValues
        self.unreadableExamples = unreadableExamples
        self.source = source
        self.digest = digest
    }
}

/// What the items of a room, of a category or of the whole job add up to.
package struct VolumeLine: Codable, Hashable, Sendable {
    /// The room or the category; `total` for the whole job.
    package var name: String
    /// How many, those of unknown volume among them.
    package var items: Int
    /// Items times their quantities; exact to a thousandth.
    package var pieces: Double
    /// The volume of a piece times the quantity, summed; to a thousandth.
    package var cubicFeet: Double
    /// The same volume at 0.028316846592 m³ a cubic foot, to a thousandth.
    package var cubicMetres: Double
    /// Estimated at 7 lb per cubic foot.
    package var pounds: Double
    /// The same estimate at 0.45359237 kg a pound, to a thousandth.
    package var kilograms: Double

    /// All figures are of the same items: nothing is converted here.
    package init(
        name: String, items: Int, pieces: Double, cubicFeet: Double, cubicMetres: Double, pounds: Double,
        kilograms: Double
    ) {
        self.name = name
        self.items = items
        self.pieces = pieces
        self.cubicFeet = cubicFeet
        self.cubicMetres = cubicMetres
        self.pounds = pounds
        self.kilograms = kilograms
    }
}

/// Storage units of one size that hold the whole job.
package struct StorageUnitReport: Codable, Hashable, Sendable {
    /// Length × width × height in feet, as in `10 × 15 × 8 ft`.
    package var name: String
    /// How many of them; more than one only when the largest is too small.
    package var count: Int
    /// Of all of them together, walls to walls.
    package var cubicFeet: Double
    /// What can be filled of that, since people stack neither to the ceiling nor without gaps.
    package var usableCubicFeet: Double

    /// `count` is 1 at least.
    package init(name: String, count: Int, cubicFeet: Double, usableCubicFeet: Double) {
        self.name = name
        self.count = count
        self.cubicFeet = cubicFeet
        self.usableCubicFeet = usableCubicFeet
    }
}

/// A value that is not a number where one is needed.
package struct UnreadableValue: Codable, Hashable, Sendable {
    /// The item's full id.
    package var item: String
    /// `quantity` or `volumeCubicFeet`.
    package var field: String
    /// The text as it is, not a number of 0 or more below a billion.
    package var value: String

    /// `value` is what stands in the field, spaces around it included.
    package init(item: String, field: String, value: String) {
        self.item = item
        self.field = field
        self.value = value
    }
}
