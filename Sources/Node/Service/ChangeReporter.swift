import CRDT
import Inventory
import LocalAPI
import Storage

/// Puts changes into the words of the API.
struct ChangeReporter: Sendable {
    let job: StoredJob

    func report(_ entry: TimelineEntry, label: String?) -> ChangeReport {
        let action: ChangeReport.Action =
            entry.isRemoval ? .removed : !entry.notes.isEmpty ? .noted : entry.isFirst ? .added : .changed
        return ChangeReport(
            job: job.id.text, anchor: entry.key.anchor, at: entry.key.stamp.timestamp, counter: entry.key.stamp.counter,
            by: entry.author.description, byName: InventoryService.hostName(of: entry.author, in: job),
            sequence: entry.key.sequence, item: entry.item.description, itemName: entry.item == .job ? job.name : label,
            action: action,
            fields: entry.settings.map { FieldChange(field: $0.field.text, from: $0.before, to: $0.value) },
            note: entry.notes.isEmpty ? nil : entry.notes.joined(separator: "\n"))
    }

    /// What came too late, by itself: what stood there before is not known.
    func report(_ late: Storage.LateChange) -> ChangeReport {
        let key = TimelineKey(late.change, at: late.dot)
        return report(TimelineEntry(late.change, key: key, isFirst: false) { _ in nil }, label: nil)
    }

    /// What was just taken in.
    func report(_ applied: AppliedChange) -> ChangeReport {
        let key = TimelineKey(applied.change, at: applied.dot)
        let entry = TimelineEntry(applied.change, key: key, isFirst: applied.before == nil) {
            applied.before?.value(of: $0)
        }
        return report(entry, label: applied.after.label ?? applied.before?.label)
    }
}
