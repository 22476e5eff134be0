import HTTPCoding
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
                    item: ConflictingEdit.jobID, itemName: "the job itself", field: "name", winner: winner,
                    losers: [loser]),
                ConflictingEdit(
                    item: Self.itemIDs[0], itemName: "Sofa (three seats)", field: "room", winner: winner,
                    losers: [loser, winner]),
            ],
            duplicateBarcodes: [DuplicateBarcode(barcode: "2000000000145", items: Array(Self.itemIDs.prefix(2)))],
            future: [
                FutureEdit(
                    item: Self.itemIDs[1], itemName: "Lamp", field: "name",
                    written: WrittenValue(
                        value: "Lamp", at: Timestamp(milliseconds: Self.moment.milliseconds + 86_400_000),
                        by: Self.otherReplicaID, byName: "bert-laptop"))
            ])
    }

    func settle(_ request: SettleRequest, job: String) async throws -> SettledConflict {
        try check(job: job, allowed: true)
        guard request.field == "room" else {
            throw APIError(.noConflict, "The field '\(request.field)' has no rival values there.")
        }
        note("settle \(request.item) \(request.field) \(request.take)")
        let rivals = try await conflicts(job: job).edits[0]
        return SettledConflict(
            item: Self.itemIDs[0], itemName: "Sofa (three seats)", field: request.field, value: request.take,
            replaced: [rivals.winner] + rivals.losers)
    }

    func check(job: String) async throws -> JobCheck {
        try check(job: job, allowed: true)
        let digest = String(repeating: "5a", count: 32)
        guard !isAlone.withLock({ $0 }) else {
            return JobCheck(job: Self.jobID, digest: digest, devices: [])
        }
        guard isDifferent.withLock({ $0 }) else {
            let same = DeviceCheck(deviceID: Self.otherDeviceID, name: "bert-laptop", outcome: .same, digest: digest)
            return JobCheck(job: Self.jobID, digest: digest, devices: [same])
        }
        let range = MissingRange(
            replicaID: Self.replicaID, replicaName: "anna-laptop", first: 16, last: 27,
            items: [MissingItem(id: Self.itemIDs[0], name: "Sofa (three seats)"), MissingItem(id: Self.itemIDs[1])],
            itemCount: 5)
        let different = DeviceCheck(
            deviceID: Self.otherDeviceID, name: "bert-laptop", outcome: .different, missingThere: [range],
            missingHere: [MissingRange(replicaID: Self.otherReplicaID, first: 10, last: 10)])
        let away = DeviceCheck(
            deviceID: nil, name: "carl-laptop", outcome: .away, heardAt: Self.moment, missingThere: [range])
        let stranger = DeviceCheck(deviceID: nil, name: nil, outcome: .away)
        return JobCheck(job: Self.jobID, digest: digest, devices: [different, away, stranger])
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
