import CRDT
import Inventory
import LocalAPI
import Outbox
import Storage

/// Puts changes into the words of the API.
struct ChangeReporter: Sendable {
    let job: StoredJob
    /// What people had asked for under the tokens that the server decides on.
    var wishes: [MutationToken: String] = [:]

    /// - Parameter person: who was at the author's laptop; nil when nobody says so.
    func report(_ entry: TimelineEntry, label: String?, by person: String?) -> ChangeReport {
        let decided = entry.decisions.map(sentence).joined(separator: "; ")
        let notes = entry.notes + (decided.isEmpty ? [] : [decided])
        let action: ChangeReport.Action =
            !entry.decisions.isEmpty
            ? .decided
            : entry.isRemoval ? .removed : !notes.isEmpty ? .noted : entry.isFirst ? .added : .changed
        return ChangeReport(
            job: job.id.text, anchor: entry.key.anchor, at: entry.key.stamp.timestamp, counter: entry.key.stamp.counter,
            by: entry.author.description, byName: InventoryService.hostName(of: entry.author, in: job),
            person: person, sequence: entry.key.sequence, item: entry.item.description,
            itemName: entry.item == .job ? job.name : label,
            action: action,
            fields: entry.settings.filter { entry.item != .job || $0.field != JobProperty.renamed }.map { setting in
                FieldChange(
                    field: setting.field.text, from: setting.before, to: setting.value,
                    standing: setting.standing.map(FieldChange.Standing.init))
            },
            note: notes.isEmpty ? nil : notes.joined(separator: "\n"),
            decisions: entry.decisions.map(ReportedDecision.init(of:)))
    }

    private func sentence(_ decision: TimelineEntry.Decision) -> String {
        switch decision {
        case .dealtWithLateWork(let count): "dealt with \(count) late change\(count == 1 ? "" : "s")"
        case .removedJob: "removed the job"
        case .asked(let request): "asked the office: \(MutationKinds.all.sentence(for: request))"
        case .withdrew(let token): "took back: \(wish(token))"
        case .decided(let outcome):
            switch outcome.verdict {
            case .accepted: "accepted: \(wish(outcome.token))"
            case .rejected: "rejected: \(wish(outcome.token)). \(outcome.reason)"
            case .withdrawn: "left alone, since it was taken back: \(wish(outcome.token))"
            }
        case .published(let published): published.sentence
        }
    }

    /// What was asked for; where that is not here, what `muster queue show` takes.
    private func wish(_ token: MutationToken) -> String {
        wishes[token] ?? "request \(token.description.prefix(8))"
    }

    /// What came too late, by itself: what its author saw is not known any more.
    func report(_ late: QuarantinedChange, label: String?, _ sessions: WorkSessions) -> ChangeReport {
        let key = TimelineKey(late.change, at: late.dot)
        return report(TimelineEntry(late.change, key: key, isFirst: false), label: label, by: sessions.person(at: key))
    }

    /// What was just taken in.
    func report(_ applied: AppliedChange, _ sessions: WorkSessions) -> ChangeReport {
        let key = TimelineKey(applied.change, at: applied.dot)
        let entry = TimelineEntry(
            applied.change, key: key, isFirst: applied.before == nil, item: applied.after
        ) { field, replaces in
            guard let register = applied.before?[field] else { return nil }
            return register.heads.last { $0.write.author == key.replica || replaces.contains($0.write) }?.value
        }
        return report(entry, label: applied.after.label ?? applied.before?.label, by: sessions.person(at: key))
    }
}

extension ReportedDecision {
    fileprivate init(of decision: TimelineEntry.Decision) {
        switch decision {
        case .dealtWithLateWork(let count): self.init(.dealtWithLateWork, count: count)
        case .removedJob: self.init(.removedJob)
        case .asked(let request):
            self.init(
                .asked, token: request.token.description, name: request.kind, value: FlatJSON.readable(request.payload))
        case .withdrew(let token): self.init(.withdrew, token: token.description)
        case .decided(let outcome):
            let kind: Kind =
                switch outcome.verdict {
                case .accepted: .accepted
                case .rejected: .rejected
                case .withdrawn: .withdrawn
                }
            self.init(
                kind, token: outcome.token.description, reason: outcome.reason.isEmpty ? nil : outcome.reason)
        case .published(let published):
            self.init(
                .published, name: "\(published.name)", value: FlatJSON.readable(Array(published.value.utf8)))
        }
    }
}

extension PublishedValue {
    /// For people.
    fileprivate var sentence: String {
        switch name {
        case .jobState: return "the job is \(value)"
        case .jobName: return "the office's name for it is '\(value)'"
        case .jobKind: return "it is of kind \(value)"
        case .signature:
            let signer = FlatJSON(parsing: Array(value.utf8))?["name"]
            return signer.map { "signed for by \($0)" } ?? "signed for"
        default: return "\(name) is \(value)"
        }
    }
}

extension FlatJSON {
    /// Without where the journals ended that were signed: up to 47 KiB for programs.
    fileprivate static func readable(_ bytes: [UInt8]) -> String {
        guard var members = FlatJSON(parsing: bytes), members["vector"] != nil else {
            return String(decoding: bytes, as: UTF8.self)
        }
        members["vector"] = nil
        return members.text
    }
}

extension FieldChange.Standing {
    init(_ standing: Register.Standing) {
        switch standing {
        case .stands: self = .stands
        case .replaced: self = .replaced
        case .lost: self = .lost
        }
    }
}
