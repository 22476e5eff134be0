import Replication

/// Collects the answers to questions that were put to several peers at once.
struct ReportCollector {
    private struct Question {
        var missing: Set<LinkID>
        var answers: [LinkID: JobDigestReport] = [:]
        var waiting: CheckedContinuation<[LinkID: JobDigestReport], Never>?
        var isOver = false
    }

    private var questions: [UInt64: Question] = [:]
    private var next: UInt64 = 0

    mutating func begin(_ links: [LinkID]) -> UInt64 {
        next += 1
        questions[next] = Question(missing: Set(links), isOver: links.isEmpty)
        return next
    }

    mutating func wait(_ number: UInt64, _ continuation: CheckedContinuation<[LinkID: JobDigestReport], Never>) {
        questions[number]?.waiting = continuation
        finishIfOver(number)
    }

    mutating func arrived(_ report: JobDigestReport, from link: LinkID) {
        guard questions[report.number]?.missing.remove(link) != nil else { return }
        questions[report.number]?.answers[link] = report
        finishIfOver(report.number)
    }

    mutating func linkClosed(_ link: LinkID) {
        for number in questions.keys.sorted() {
            questions[number]?.missing.remove(link)
            finishIfOver(number)
        }
    }

    mutating func end(_ number: UInt64) {
        questions[number]?.isOver = true
        finishIfOver(number)
    }

    private mutating func finishIfOver(_ number: UInt64) {
        guard let question = questions[number], question.isOver || question.missing.isEmpty,
            let waiting = question.waiting
        else { return }
        questions[number] = nil
        waiting.resume(returning: question.answers)
    }
}
