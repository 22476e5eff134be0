import Glibc

/// A bar on standard error, if a person is looking.
struct ImportProgress {
    private let isShown = isatty(STDERR_FILENO) == 1
    private let size: Int?

    init(size: Int?) {
        self.size = size
    }

    func show(bytesRead: Int, rows: Int) {
        guard isShown else { return }
        var text = "\(Formats.count(rows)) rows"
        if let size, size > 0 {
            let share = min(1, Double(bytesRead) / Double(size))
            let filled = Int(share * 30)
            let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 30 - filled)
            text = "\(bar) \(Int(share * 100)) %  " + text
        }
        StandardError.write("\r\u{1B}[K\(text)")
    }

    func clear() {
        if isShown { StandardError.write("\r\u{1B}[K") }
    }
}
