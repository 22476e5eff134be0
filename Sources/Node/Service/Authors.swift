import CRDT
import Inventory
import LocalAPI
import Storage

/// Who has written in a job: laptops, and the people at them.
struct Authors: Sendable {
    let job: StoredJob
    /// Read after what is told of, so that they hold whoever wrote it.
    let sessions: WorkSessions

    func written(_ head: Register.Head) -> WrittenValue { written(head.value, head.write) }

    func written(_ value: String, _ write: WriteStamp) -> WrittenValue {
        WrittenValue(
            value: value, at: write.stamp.timestamp, by: write.author.description, byName: hostName(of: write),
            person: sessions.person(of: write))
    }

    func hostName(of write: WriteStamp) -> String? { InventoryService.hostName(of: write.author, in: job) }
}
