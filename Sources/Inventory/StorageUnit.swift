/// A storage unit of a usual size.
package struct StorageUnit: Hashable, Sendable {
    /// In feet.
    package let length: Int
    /// In feet.
    package let width: Int
    /// In feet.
    package let height: Int

    /// How much of a unit people really fill: an aisle's worth of air, gaps, and nothing up to the ceiling. Three
    /// quarters is the share that storage companies customarily reckon with.
    package static let usablePercent = 75

    /// From the smallest to the largest: the sizes that most storage companies let.
    package static let usual: [StorageUnit] = [
        StorageUnit(length: 5, width: 5, height: 8),
        StorageUnit(length: 5, width: 10, height: 8),
        StorageUnit(length: 5, width: 15, height: 8),
        StorageUnit(length: 10, width: 10, height: 8),
        StorageUnit(length: 10, width: 15, height: 8),
        StorageUnit(length: 10, width: 20, height: 8),
        StorageUnit(length: 10, width: 25, height: 8),
        StorageUnit(length: 10, width: 30, height: 8),
    ]

    /// For people, in feet: `5 × 10 × 8 ft`.
    package var name: String { "\(length) × \(width) × \(height) ft" }

    /// Walls to walls.
    package var cubicFeet: Thousandths { Thousandths(length * width * height * 1000) }

    /// How much goes into it in practice: `usablePercent` of it.
    package var usableCubicFeet: Thousandths { cubicFeet.scaled(by: Self.usablePercent, over: 100) }
}

/// One or more storage units of one size.
package struct StorageFit: Hashable, Sendable {
    /// The size of each of them.
    package let unit: StorageUnit
    /// More than one only when the largest is too small for everything.
    package let count: Int

    /// The smallest that holds the volume; nil when there is none to hold.
    package init?(for volume: Thousandths) {
        guard volume > .zero, let largest = StorageUnit.usual.last else { return nil }
        if let unit = StorageUnit.usual.first(where: { $0.usableCubicFeet >= volume }) {
            self.unit = unit
            count = 1
        } else {
            unit = largest
            let usable = largest.usableCubicFeet.rawValue
            count = volume.rawValue / usable + (volume.rawValue % usable == 0 ? 0 : 1)
        }
    }

    /// Of all units together, walls to walls.
    package var cubicFeet: Thousandths { unit.cubicFeet.scaled(by: count, over: 1) }
    /// Of all units together, as `StorageUnit.usableCubicFeet`.
    package var usableCubicFeet: Thousandths { unit.usableCubicFeet.scaled(by: count, over: 1) }
}
