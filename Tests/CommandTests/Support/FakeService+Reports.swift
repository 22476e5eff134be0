import LocalAPI
import Synchronization

extension FakeService {
    func conflicts(job: String) async throws -> ConflictReport {
        try check(job: job, allowed: true)
        let winner = WrittenValue(value: "Hall", at: Self.moment, by: Self.replicaID, byName: "anna-laptop")
        let loser = WrittenValue(value: "Living room by the window", at: Self.moment, by: Self.otherReplicaID)
        return ConflictReport(
            edits: [
                ConflictingEdit(
                    item: Self.itemIDs[0], itemName: "Sofa (three seats)", field: "room", winner: winner, loser: loser)
            ],
            duplicateBarcodes: [DuplicateBarcode(barcode: "2000000000145", items: Array(Self.itemIDs.prefix(2)))])
    }

    func check(job: String) async throws -> JobCheck {
        try check(job: job, allowed: true)
        let digest = String(repeating: "5a", count: 32)
        guard isDifferent.withLock({ $0 }) else {
            let same = DeviceCheck(deviceID: Self.otherDeviceID, name: "bert-laptop", outcome: .same, digest: digest)
            return JobCheck(job: Self.jobID, digest: digest, isSame: true, devices: [same])
        }
        let range = MissingRange(replicaID: Self.replicaID, replicaName: "anna-laptop", first: 16, last: 27)
        let different = DeviceCheck(
            deviceID: Self.otherDeviceID, name: "bert-laptop", outcome: .different, missingThere: [range],
            missingHere: [MissingRange(replicaID: Self.otherReplicaID, first: 10, last: 10)])
        return JobCheck(job: Self.jobID, digest: digest, isSame: false, devices: [different])
    }

    func export(job: String, format: ExportFormat) async throws -> Chunks {
        try check(job: job, allowed: true)
        switch format {
        case .json:
            return chunks([#"{"items":[],"#, #""job":"0190","#, #""removed":[]}"#])
        case .csv:
            return chunks(["id,name\r\n", "1,Sofa\r\n"])
        }
    }

    private func chunks(_ texts: [String]) -> Chunks {
        let rest = Mutable(texts[...])
        return Chunks { rest.value.popFirst().map { Array($0.utf8) } }
    }
}
