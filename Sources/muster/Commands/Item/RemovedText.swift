import LocalAPI

/// What was removed, or is about to be, for people.
struct RemovedText {
    /// So many are named before the rest is counted.
    private static let asked = 5
    private static let listed = 20
    /// Ids in one command.
    private static let perCommand = 100
    /// Of more items the commands would fill screens.
    private static let commands = 10

    let removed: Removed
    /// As the person wrote it.
    let job: String

    /// Before it is done: how many, and the first of them.
    func question(of details: JobDetails) -> String {
        let named = removed.items.prefix(Self.asked).map { item in
            [item.name, item.barcode.map { "(\($0))" }].compactMap(\.self).joined(separator: " ").orID(item.id)
        }
        let more = removed.removed.count - named.count
        let part = "\(Formats.count(removed.removed.count)) of the \(counted(details.items, "item"))"
        return "This removes \(part) in the job \"\(details.name)\" on every laptop: "
            + named.joined(separator: ", ") + (more > 0 ? ", and \(Formats.count(more)) more." : ".")
    }

    /// After it was done: what has gone, and the commands that bring it back, each in a line of its own.
    func lines(width: Int) -> [String] {
        let count = removed.removed.count
        guard count > 0 else { return ["Removed 0 items."] }
        var lines = ["Removed \(counted(count, "item")):"]
        for item in removed.items.prefix(Self.listed) {
            let words = [item.name, item.barcode].compactMap(\.self).joined(separator: "  ").orID(item.id)
            lines.append("  " + Text.fitted(Text.plain(words), to: width - 2))
        }
        if count > Self.listed { lines.append("  and \(Formats.count(count - Self.listed)) more") }
        return lines + ["To bring \(count == 1 ? "it" : "them") back:"] + restoring
    }

    private var restoring: [String] {
        let references = removed.items.map(\.reference) + removed.removed.dropFirst(removed.items.count)
        let starts = stride(from: 0, to: references.count, by: Self.perCommand)
        var lines = starts.prefix(Self.commands).map { start in
            let words = references[start..<min(start + Self.perCommand, references.count)]
            return ShellWord.command(["muster", "item", "restore", job] + words)
        }
        let told = Self.commands * Self.perCommand
        if references.count > told {
            let more = Formats.count(references.count - told)
            lines.append("and \(more) more, whose ids stand in 'muster job log \(ShellWord.quoted(job))'")
        }
        return lines
    }
}

extension String {
    fileprivate func orID(_ id: String) -> String { isEmpty ? id : self }
}
