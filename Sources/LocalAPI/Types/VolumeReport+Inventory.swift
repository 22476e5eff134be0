import CRDT
package import Inventory

extension VolumeReport {
    private static let exampleCount = 20

    /// Turns exact thousandths into numbers, and names twenty examples of each list at most.
    ///
    /// - Parameter digest: of the inventory that was added up.
    package init(_ summary: VolumeSummary, digest: String) {
        let unknown = summary.unknownVolume
        let unreadable = summary.unreadable
        let tooLarge = summary.tooLarge
        self.init(
            total: VolumeLine("total", summary.total),
            rooms: summary.rooms.map { VolumeLine($0.name, $0.line) },
            categories: summary.categories.map { VolumeLine($0.name, $0.line) },
            storageUnit: summary.storage.map(StorageUnitReport.init),
            unknownVolumeItems: unknown.count,
            unknownVolumeExamples: unknown.prefix(Self.exampleCount).map(\.description),
            tooLargeItems: tooLarge.count,
            tooLargeExamples: tooLarge.prefix(Self.exampleCount).map(\.description), isCapped: summary.isCapped,
            unreadableValues: unreadable.count,
            unreadableExamples: unreadable.prefix(Self.exampleCount).map {
                UnreadableValue(item: $0.item.description, field: $0.field, value: $0.value)
            },
            source: Catalogue.source, digest: digest)
    }
}

extension VolumeLine {
    fileprivate init(_ name: String, _ line: VolumeSummary.Line) {
        self.init(
            name: name, items: line.items, pieces: line.pieces.double, cubicFeet: line.cubicFeet.double,
            cubicMetres: line.cubicMetres.double, pounds: line.pounds.double, kilograms: line.kilograms.double)
    }
}

extension StorageUnitReport {
    fileprivate init(_ fit: StorageFit) {
        self.init(
            name: fit.unit.name, count: fit.count, cubicFeet: fit.cubicFeet.double,
            usableCubicFeet: fit.usableCubicFeet.double)
    }
}

extension Volume {
    /// The volume of one line, the cubic metres rounded to a thousandth.
    package init(_ line: VolumeSummary.Line) {
        self.init(cubicFeet: line.cubicFeet.double, cubicMetres: line.cubicMetres.double)
    }
}
