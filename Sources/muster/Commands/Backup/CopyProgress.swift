/// A bar on standard error for so many bytes of so many, if a person is looking.
struct CopyProgress {
    private let isShown = Terminal.error.isInteractive
    private var lastShare = -1

    mutating func show(_ bytes: Int, of size: Int?) {
        guard isShown, let size, size > 0 else { return }
        let share = min(100, bytes * 100 / size)
        guard share != lastShare else { return }
        lastShare = share
        let filled = share * 30 / 100
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 30 - filled)
        StandardError.write("\r\u{1B}[K\(bar) \(share) %  \(Formats.decimal(Double(size) / 1_000_000)) MB")
    }

    func clear() {
        if isShown { StandardError.write("\r\u{1B}[K") }
    }
}
