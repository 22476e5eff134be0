import LocalAPI

extension AmendedJob {
    /// Says that what was written does not go without notice; it is written all the same.
    func warn() { StandardError.say(sentence) }

    /// One line: why, and what becomes of it.
    var sentence: String {
        let over = state.map { "is \($0)" }
        guard let signedBy else {
            return
                "This job \(over ?? "is over"): tell the office what was changed, which stands in 'muster job log JOB'."
        }
        let day = signedAt.map { " on \(Formats.exactTime($0))" } ?? ""
        let end = over.map { ", and it \($0)" } ?? ""
        return "\(Text.plain(signedBy)) has signed for this job\(day)\(end): the change shows as an amendment "
            + "('muster job summary JOB')."
    }
}
