package import CRDT

/// What the rules say of a set of transforms, worked out the slow and obvious way, to compare the production merge with.
package struct Reference {
    private struct Write {
        let write: WriteStamp
        let operation: Operation
    }

    private var writes: [ItemID: [Write]] = [:]

    package init(_ store: ModelStore, job: JobID) {
        for (replica, entries) in store.jobs[job]?.journals ?? [:] {
            for entry in entries {
                for operation in entry.change.operations {
                    writes[entry.change.item, default: []].append(
                        Write(write: entry.change.write(in: replica), operation: operation))
                }
            }
        }
    }

    package func failures(comparedWith store: ModelStore, job: JobID) -> [String] {
        var failures: [String] = []
        for (item, writes) in writes {
            let state = store.jobs[job]?.items[item] ?? ItemState()
            let isRemoved = writes.contains { $0.operation == .remove }
            if isRemoved != (state.removed != nil) { failures.append("R2: item \(item) is not as its remove says.") }
            if isRemoved {
                if !state.fields.isEmpty || !state.remarks.isEmpty { failures.append("R2: \(item) kept something.") }
                continue
            }
            var last: [FieldName: (WriteStamp, String)] = [:]
            var remarks: Set<String> = []
            for write in writes {
                switch write.operation {
                case .set(let field, let value, _):
                    if last[field].map({ $0.0 < write.write }) ?? true { last[field] = (write.write, value) }
                case .append(_, let entry): remarks.insert("\(write.write) \(entry)")
                case .remove, .hold, .expel, .fold, .removeJob, .decide: break
                }
            }
            for (field, winner) in last where state.value(of: field) != winner.1 {
                failures.append("R1: field \(field) of \(item) is not the last write.")
            }
            if remarks != Set(state.remarks.map { "\($0.write) \($0.text)" }) {
                failures.append("R1b: remarks of \(item) were lost or made up.")
            }
        }
        return failures
    }
}
