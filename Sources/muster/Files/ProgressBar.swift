import Synchronization

/// A bar on standard error, if a person is looking.
final class ProgressBar: Sendable {
    private static let width = 30

    private let isShown = Terminal.error.isInteractive
    private let last = Mutex("")

    /// - Parameters:
    ///   - whole: nil where nobody knows how much it is: then there is no bar, and the text alone.
    ///   - text: what a person counts, such as rows.
    func show(_ done: Int, of whole: Int?, _ text: String) {
        guard isShown else { return }
        var line = text
        if let whole, whole > 0 {
            let share = min(1, Double(done) / Double(whole))
            let filled = Int(share * Double(Self.width))
            let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.width - filled)
            line = "\(bar) \(Int(share * 100)) %  \(text)"
        }
        let isNews = last.withLock { last in
            defer { last = line }
            return last != line
        }
        if isNews { StandardError.write("\r\u{1B}[K\(line)") }
    }

    func clear() {
        if isShown { StandardError.write("\r\u{1B}[K") }
    }
}
