import HTTPCoding
import Inventory
import LocalAPI

/// What `job watch` knows, and how it looks.
struct WatchView {
    private static let keptChanges = 500
    private static let peerLineCount = 3

    var job: JobDetails
    var peers: [PeerStatus]
    /// Since when no daemon has told anything; nil while one does.
    private(set) var awaySince: Timestamp?
    /// Whether something may have changed while no daemon told it.
    private var hasMissed = false
    private(set) var changes: [ChangeReport] = []

    init(job: JobDetails, peers: [PeerStatus]) {
        self.job = job
        self.peers = peers
    }

    mutating func daemonIsAway(at time: Timestamp) { awaySince = awaySince ?? time }

    /// It tells what happens, from now on or still.
    mutating func daemonAnswers() {
        if awaySince != nil { hasMissed = true }
        awaySince = nil
    }

    /// Puts a change at its place in the timeline: one that was made earlier stands above those made later, whenever it
    /// arrives.
    mutating func add(_ change: ChangeReport) {
        let place = changes.lastIndex { !change.precedes($0) }.map { $0 + 1 } ?? 0
        changes.insert(change, at: place)
        if changes.count > Self.keptChanges { changes.removeFirst(changes.count - Self.keptChanges) }
    }

    /// At most `terminal.height` lines of at most `terminal.width` columns: the job, the peers, the latest changes in the
    /// order of the timeline, the last at the bottom.
    func lines(on terminal: Terminal) -> [String] {
        let (width, style) = (terminal.width, terminal.style)
        let rule = style.dim(String(repeating: "─", count: width))
        var lines = [title(width, style), rule] + figures(width, style) + peerLines(width, style) + [rule]
        let room = max(1, terminal.height - lines.count - 1)
        if changes.isEmpty {
            lines.append(style.dim(Text.fitted("Nothing has changed since you are watching.", to: width)))
        }
        lines += changes.suffix(room).map { ChangeLine($0).text(width: width, style: style, isBrief: true) }
        let used = lines.count + 1
        lines += Array(repeating: "", count: max(0, terminal.height - used))
        lines.append(foot(width, style))
        return Array(lines.prefix(terminal.height))
    }

    private func foot(_ width: Int, _ style: Style) -> String {
        guard let awaySince else {
            let missed = hasMissed ? "The daemon was away meanwhile: 'muster job log' has all changes. " : ""
            return style.dim(Text.fitted(missed + "Ctrl-C ends", to: width))
        }
        let time = Formats.exactTime(awaySince).suffix(8)
        return style.yellow(
            Text.fitted("No daemon answers since \(time); goes on when one does. Ctrl-C ends", to: width))
    }

    private func title(_ width: Int, _ style: Style) -> String {
        let kind = Text.fitted("\(job.kind.rawValue) · \(job.state.description)", to: width / 2)
        let nameWidth = width - Text.width(kind) - 2
        let name = Text.fitted(Text.plain(job.name), to: nameWidth)
        return style.bold(Text.padded(name, to: nameWidth)) + "  " + style.dim(kind)
    }

    private func figures(_ width: Int, _ style: Style) -> [String] {
        let conflicts = counted(job.conflicts, "conflict")
        let text = "\(counted(job.items, "item")) · \(Formats.count(job.removed)) removed · \(job.volume.description)"
        let fitted = Text.fitted(text, to: max(0, width - Text.width(conflicts) - 3))
        return [fitted + " · " + (job.conflicts == 0 ? style.dim(conflicts) : style.yellow(conflicts))]
    }

    /// One peer after the other, as many to a line as fit, three lines at most.
    private func peerLines(_ width: Int, _ style: Style) -> [String] {
        guard !peers.isEmpty else { return [style.dim(Text.fitted("No other laptop found yet.", to: width))] }
        let gap = "   "
        var lines: [String] = []
        if job.sync == .notConnected { lines.append(style.yellow(Text.fitted("No laptop is connected.", to: width))) }
        var used = width
        for peer in peers {
            let behind = job.peersBehind.first { $0.deviceID == peer.deviceID }?.transforms ?? 0
            let state =
                peer.state == .connected
                ? (behind == 0 ? "in sync" : "\(Formats.count(behind)) behind") : peer.syncDescription
            let text = Text.fitted("\(peer.displayName) \(state)", to: width - 2)
            let shown = mark(peer, behind, style) + " " + text
            let columns = Text.width(text) + 2
            if used + gap.count + columns <= width {
                lines[lines.count - 1] += gap + shown
                used += gap.count + columns
            } else {
                lines.append(shown)
                used = columns
            }
        }
        let hidden = lines.count - Self.peerLineCount
        guard hidden > 0 else { return lines }
        return lines.prefix(Self.peerLineCount - 1) + [style.dim(Text.fitted("… and more: muster peers", to: width))]
    }

    private func mark(_ peer: PeerStatus, _ behind: Int, _ style: Style) -> String {
        guard peer.state == .connected else { return style.dim("○") }
        return behind == 0 ? style.green("●") : style.yellow("◐")
    }
}
