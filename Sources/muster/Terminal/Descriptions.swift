import LocalAPI

/// How the API's values read in a line of text.
extension PeerStatus {
    /// The host's name, else the short id, else the address.
    var displayName: String {
        if let name, !name.isEmpty { return Text.plain(name) }
        return deviceID.map(ShortIDs.random) ?? Text.plain(address)
    }

    /// In sync, or how far apart.
    var syncDescription: String {
        switch state {
        case .discovered: return "found, not connected"
        case .connecting: return "connecting"
        case .unreachable: return "not reachable"
        case .connected: break
        }
        if isInSync { return "in sync" }
        let parts = [
            behind.flatMap { $0 > 0 ? "\(Formats.count($0)) behind" : nil },
            ahead.flatMap { $0 > 0 ? "\(Formats.count($0)) ahead" : nil },
        ].compactMap { $0 }
        return parts.isEmpty ? "connected" : parts.joined(separator: ", ")
    }
}

extension ChangeReport {
    /// The author's host, else the short replica id; behind who was at it.
    var authorName: String { authorDisplayName(by, byName, person) }

    var itemDisplayName: String {
        itemName.flatMap { $0.isEmpty ? nil : Text.plain($0) } ?? ShortIDs.one(item)
    }

    /// From what to what, in one line.
    var summary: String {
        switch action {
        case .removed: return "removed"
        case .decided: return Text.plain(note ?? "")
        case .noted: return "note: " + Text.plain(note ?? "")
        case .added:
            let fields = fields.map { "\($0.field)=\($0.to)\($0.fate)" }.joined(separator: ", ")
            return Text.plain(fields.isEmpty ? "added" : "added: " + fields)
        case .changed:
            let changes = fields.map { change in
                let before = change.from.map { "\($0) → " } ?? ""
                return "\(change.field): \(before)\(change.to)\(change.fate)"
            }
            return Text.plain(changes.joined(separator: ", "))
        }
    }
}

extension FieldChange {
    /// What has become of the value; what stands needs no word.
    fileprivate var fate: String {
        switch standing {
        case .stands, nil: ""
        case .replaced: " (replaced)"
        case .lost: " (lost)"
        }
    }
}

extension WrittenValue {
    var authorName: String { authorDisplayName(by, byName, person) }
}

extension ShownState {
    /// The published state, and the pending one after an arrow.
    var description: String {
        let published = published ?? "not published"
        return pending.map { "\(published) → \($0)" } ?? published
    }
}

extension Volume {
    var description: String {
        "\(Formats.decimal(cubicFeet)) cu ft (\(Formats.decimal(cubicMetres)) m³)"
    }
}

func authorDisplayName(_ replica: String, _ name: String?, _ person: String? = nil) -> String {
    let laptop = name.flatMap { $0.isEmpty ? nil : Text.plain($0) } ?? ShortIDs.random(replica)
    return person.map { "\(Text.plain($0)) on \(laptop)" } ?? laptop
}

/// `1 item`, `2 items`.
func counted(_ count: Int, _ noun: String) -> String {
    "\(Formats.count(count)) \(noun)\(count == 1 ? "" : "s")"
}
