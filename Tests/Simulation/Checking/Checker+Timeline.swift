import CRDT
import Inventory
import Storage

/// Rule R7: one order everywhere, and a log that explains every value that shows.
extension Checker {
    func checkTimeline(of job: JobID, on device: Holder) async throws {
        let reference = device[job]
        let lines = try await device.store.timeline(of: job, item: nil).rest()
        let expected = Self.lines(of: reference, job)
        let held = Set(reference.journals.values.joined().map(\.write))
        for (index, wanted) in expected.enumerated() {
            guard index < lines.count else {
                throw Violation("R7", "the log of \(device) ends before \(wanted.brief).")
            }
            try check(lines[index], is: wanted, on: device)
            try checkSettings(
                of: lines[index], in: job, on: device, hasAllBefore: wanted.entry.replaced.isSubset(of: held))
            count(.timelineLine)
        }
        guard lines.count == expected.count else {
            throw Violation("R7", "the log of \(device) shows \(lines[expected.count]), which nobody did.")
        }
        try checkExplanation(lines, of: reference, on: device)
    }

    // MARK: The order

    struct Line {
        let entry: Reference.Entry
        /// The server's own word stands where it stands in the channel, whatever its clock said.
        var isServersWord: Bool { entry.replica == .channel && entry.change.origin == nil }

        var order: (UInt64, UInt64, UInt128, UInt64, UInt128) {
            (
                isServersWord ? entry.first : entry.change.anchor, isServersWord ? 0 : entry.change.stamp.rawValue,
                entry.write.author.value, entry.first, entry.replica.value
            )
        }

        var brief: String {
            "\(entry.dot.brief), \(entry.work.map { "\($0.deed)" }.joined(separator: "+")) of \(entry.change.item)"
        }
    }

    /// What people read: all changes but those by which programs speak to each other, the same work once; of a removed job
    /// what was said about it.
    private static func lines(of reference: Reference, _ job: JobID) -> [Line] {
        let all = reference.journals.values.joined().map { Line(entry: $0.leavingOutForged(of: job)) }
            .filter { line in !reference.isRemoved || line.entry.isStatement }
            .filter { line in line.entry.change.operations.contains { isRead($0, isServersWord: line.isServersWord) } }
            .sorted { $0.order < $1.order }
        var seen: Set<[UInt8]> = []
        return all.filter { line in
            // Issued again, or written twice by two copies of one store: but for where it stands, the same bytes.
            var change = line.entry.change
            change.origin = line.entry.write.author
            change.anchor = 0
            return seen.insert(ChangeCodec.encode(change)).inserted
        }
    }

    private static func isRead(_ operation: CRDT.Operation, isServersWord: Bool) -> Bool {
        switch operation {
        case .set, .append, .remove, .removeJob, .decide, .request, .withdraw: true
        case .outcome, .publish: isServersWord
        case .acknowledge: false
        }
    }

    /// What people read about the job as a whole.
    private static func isDecision(_ operation: CRDT.Operation, isServersWord: Bool) -> Bool {
        switch operation {
        case .set, .append, .remove, .acknowledge: false
        case .removeJob, .decide, .request, .withdraw: true
        case .outcome, .publish: isServersWord
        }
    }

    private func check(_ line: TimelineEntry, is wanted: Line, on device: Holder) throws {
        let change = wanted.entry.change
        var settings: [(Text, Text)] = []
        var notes: [Text] = []
        for operation in change.operations {
            switch operation {
            case .set(let field, let value, _): settings.append((Text(field), Text(value)))
            case .append(_, let text): notes.append(Text(text))
            default: break
            }
        }
        settings.sort { $0.0 < $1.0 }
        let decisions = change.operations.count { Self.isDecision($0, isServersWord: wanted.isServersWord) }
        let dealtWith = change.operations.reduce(0) { sum, operation in
            if case .decide(let changes) = operation { sum + changes.count } else { sum }
        }
        let toldOf = line.decisions.reduce(0) { sum, decision in
            if case .dealtWithLateWork(let count) = decision { sum + count } else { sum }
        }
        let isSame =
            line.item == change.item && line.author == wanted.entry.write.author && line.key.stamp == change.stamp
            && line.isRemoval == change.operations.contains(.remove)
            && line.settings.elementsEqual(settings) { Text($0.field) == $1.0 && Text($0.value) == $1.1 }
            && line.notes.map { Text($0) } == notes && line.decisions.count == decisions && toldOf == dealtWith
        guard isSame else {
            throw Violation("R7", "the log of \(device) says \(line) where \(wanted.brief) stands.")
        }
    }

    /// A line says what its author's laptop showed at the time, and what shows now.
    ///
    /// - Parameter hasAllBefore: whether what the author has replaced is here; journals may come in any order.
    private func checkSettings(
        of line: TimelineEntry, in job: JobID, on device: Holder, hasAllBefore: Bool
    ) throws {
        let item = device[job].expected(line.item)
        let write = WriteStamp(stamp: line.key.stamp, author: line.author)
        for setting in line.settings {
            let (field, value) = (Text(setting.field), Text(setting.value))
            let deed = Deed.set(field: field, value: value)
            let place = Showing(job: job, work: Work(item: line.item, deed: deed))
            // Two copies of a store each have a past of their own.
            if hasAllBefore, let shown = shownBefore[place], !unsure.contains(place), !forkable.contains(line.author) {
                let before = setting.before.map { Text($0) }
                guard shown.contains(before) || isTwin(before, of: shown, field, line.item, device[job]) else {
                    throw Violation(
                        "R7",
                        "the log of \(device) says that \(deed) of \(line.item) came after "
                            + "\(setting.before ?? "nothing"), its author saw \(shown).")
                }
                count(.seenValue)
            }
            let isHead = item.candidates[field]?.contains(.init(write: write, value: value)) ?? false
            let standing: Register.Standing? =
                item.isRemoved ? nil : !isHead ? .replaced : item.values[field] == value ? .stands : .lost
            guard setting.standing == standing else {
                throw Violation(
                    "R7",
                    "the log of \(device) says of \(deed) of \(line.item) that it \(Self.text(setting.standing)), "
                        + "not that it \(Self.text(standing)).")
            }
        }
    }

    /// Whether two copies of a store wrote this value and one that was shown in the same moment: under one write, so that who
    /// replaced the one named both.
    private func isTwin(
        _ value: Text?, of shown: Set<Text?>, _ field: Text, _ item: ItemID, _ reference: Reference
    ) -> Bool {
        guard let value else { return false }
        return reference.work.contains { one in
            one.item == item && forkable.contains(one.write.author) && one.deed == .set(field: field, value: value)
                && shown.contains { other in
                    other.map {
                        reference.work.contains(
                            Written(item: item, deed: .set(field: field, value: $0), write: one.write))
                    } ?? false
                }
        }
    }

    private static func text(_ standing: Register.Standing?) -> String {
        standing.map { "is \($0)" } ?? "went with its item"
    }

    /// What a laptop shows of a field when its person writes there.
    ///
    /// - Parameter reference: nil when other work became durable in the same moment, and in no known order.
    func noteShown(before added: [Reference.Entry], in job: JobID, knowing reference: Reference?) {
        var overlaid: [ItemID: [Text: Text]] = [:]
        // What is written again for another was seen by that one.
        for entry in added where entry.change.origin == nil {
            let id = entry.change.item
            for case .set(let field, let value, _) in entry.change.operations {
                let (field, value) = (Text(field), Text(value))
                let place = Showing(job: job, work: Work(item: id, deed: .set(field: field, value: value)))
                guard let reference else {
                    unsure.insert(place)
                    continue
                }
                let shown = overlaid[id]?[field] ?? reference.expected(id).values[field]
                shownBefore[place, default: []].insert(shown)
                overlaid[id, default: [:]][field] = value
            }
        }
    }

    // MARK: The explanation

    /// Read from top to bottom, the log says how each value came to be.
    private func checkExplanation(_ lines: [TimelineEntry], of reference: Reference, on device: Holder) throws {
        var told: Set<Written> = []
        for line in lines { told.formUnion(line.work) }
        for id in reference.itemIDs + [.job] {
            let item = reference.expected(id)
            for (field, standing) in item.candidates.sorted(by: { $0.key < $1.key }) {
                for candidate in standing {
                    let work = Written(
                        item: id, deed: .set(field: field, value: candidate.value), write: candidate.write)
                    guard !told.contains(work) else { continue }
                    throw Violation(
                        "R7", "the log of \(device) does not say how \(field) of \(id) became \(candidate.value).")
                }
                count(.explainedValue)
            }
        }
    }
}

extension Reference.Entry {
    /// The writes that its author says to have seen and replaced.
    fileprivate var replaced: Set<WriteStamp> {
        Set(
            change.operations.flatMap { operation -> [WriteStamp] in
                if case .set(_, _, let replaces) = operation { replaces } else { [] }
            })
    }
}
