import HTTPCoding
import NIOHTTP1
import Synchronization

/// Of this laptop and of the server.
struct RevocationNumbers: Equatable, Sendable {
    let mine: String
    let theirs: String
}

/// Which ones were last compared, and, where that came to nothing, until when they are left alone.
struct RevocationComparison: Sendable {
    static let rest = Duration.seconds(60)

    private var last: RevocationNumbers?
    private var restEnd: ContinuousClock.Instant?

    /// Whether they have to be compared now; then they count as compared.
    mutating func begin(_ numbers: RevocationNumbers, now: ContinuousClock.Instant) -> Bool {
        guard numbers.mine != numbers.theirs else { return false }
        // What did not become equal by that is not compared again and again.
        if last == numbers { guard let restEnd, restEnd <= now else { return false } }
        (last, restEnd) = (numbers, nil)
        return true
    }

    /// It was interrupted, or refused.
    mutating func fail(now: ContinuousClock.Instant) {
        restEnd = now + Self.rest
    }
}

extension ChannelClient {
    /// Both tell each other all that they know where they know different things, before anything else is said.
    func compareRevocations(with theirs: String) async {
        guard let security else { return }
        let numbers = RevocationNumbers(mine: security.revocationNumber, theirs: theirs)
        guard compared.withLock({ $0.begin(numbers, now: .now) }) else { return }
        // The server's word does not wait for this laptop's.
        let isTold = await tellRevocations(security)
        let isHeard = await hearRevocations(security)
        if !isTold || !isHeard { compared.withLock { $0.fail(now: .now) } }
    }

    private func tellRevocations(_ security: any ServerSecurity) async -> Bool {
        var mine = security.revocationEntries[...]
        while !mine.isEmpty {
            let list = RevocationList(mine.prefix(ChannelLimits.revocations))
            mine = mine.dropFirst(ChannelLimits.revocations)
            guard let body = try? JSON.encode(list) else { return false }
            let ask = Ask(
                method: .POST, path: "/v1/revocations", body: body, type: ChannelHeader.json,
                isComparison: true)
            guard case .answer = await execute(ask) else { return false }
        }
        return true
    }

    private func hearRevocations(_ security: any ServerSecurity) async -> Bool {
        var query = ""
        while true {
            let reply = await execute(Ask(path: "/v1/revocations\(query)", isComparison: true))
            guard case .answer(let bytes) = reply,
                let page = try? JSON.decode(RevocationList.self, from: bytes),
                let entries = try? page.entries()
            else { return false }
            await security.learnRevocations(fromServer: entries)
            guard let next = page.next else { return true }
            query = "?after=\(next)"
        }
    }
}
