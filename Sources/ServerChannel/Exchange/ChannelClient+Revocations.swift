import FoundationEssentials
import NIOHTTP1
import Synchronization

/// Of this laptop and of the server.
struct RevocationNumbers: Equatable, Sendable {
    let mine: String
    let theirs: String
}

extension ChannelClient {
    /// Both tell each other all that they know where they know different things, before anything else is said.
    func compareRevocations(with theirs: String) async {
        guard let security else { return }
        let numbers = RevocationNumbers(mine: security.revocationNumber, theirs: theirs)
        let isNews = compared.withLock { last in
            defer { last = numbers }
            return numbers.mine != theirs && last != numbers
        }
        guard isNews else { return }
        // What was interrupted is done again with the next answer.
        if await !exchangeRevocations(security) { compared.withLock { $0 = nil } }
    }

    private func exchangeRevocations(_ security: any ServerSecurity) async -> Bool {
        var mine = security.revocationEntries[...]
        while !mine.isEmpty {
            let list = RevocationList(mine.prefix(ChannelLimits.revocations))
            mine = mine.dropFirst(ChannelLimits.revocations)
            guard let body = try? JSONEncoder().encode(list) else { return false }
            let ask = Ask(
                method: .POST, path: "/v1/revocations", body: Array(body), type: ChannelHeader.json,
                isComparison: true)
            guard case .answer = await execute(ask) else { return false }
        }
        var query = ""
        while true {
            let reply = await execute(Ask(path: "/v1/revocations\(query)", isComparison: true))
            guard case .answer(let bytes) = reply,
                let page = try? JSONDecoder().decode(RevocationList.self, from: Data(bytes)),
                let entries = try? page.entries()
            else { return false }
            await security.learnRevocations(fromServer: entries)
            guard let next = page.next else { return true }
            query = "?after=\(next)"
        }
    }
}
